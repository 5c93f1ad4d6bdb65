# SPDX-License-Identifier: Apache-2.0
# deps, test, lint, bench, install, help and the like. Included by the Makefile.

# ---- what has to be installed -------------------------------------------
.PHONY: deps deps-core
# `make deps demo` does not wait for what only tests use.
ONLY_DEMO := $(if $(filter-out deps all demo,$(MAKECMDGOALS)),,$(filter demo,$(MAKECMDGOALS)))
deps: ## all that building, the demo and every test need; installs only what is missing
	@scripts/deps.sh $(if $(ONLY_DEMO),torch,all)
deps-core: ## the same without PyTorch (no large download)
	@scripts/deps.sh core
$(CORE_STAMP): scripts/deps.sh
	@scripts/deps.sh core

# In `make deps test` the second target waits for the first, with -j too.
WANTED_DEPS := $(filter deps deps-core,$(MAKECMDGOALS))

# ---- public headers --------------------------------------------------------
PUBLIC_HEADERS := $(patsubst %,$(BUILD)/include/%,$(notdir $(wildcard interposer/synctally.h sim/include/synctally_sim.h)))
all: $(PUBLIC_HEADERS)
$(BUILD)/include/%.h: interposer/%.h
	@mkdir -p $(@D)
	cp $< $@
$(BUILD)/include/%.h: sim/include/%.h
	@mkdir -p $(@D)
	cp $< $@

# ---- test programs ----------------------------------------------------------
# tests/unit/test_sim_X.c        the simulator's libraries, through their exported interface
# tests/unit/test_interposer_X.c the interposer's modules; only the ones it names are linked
# tests/unit/test_X.c            trace/ and analysis/
# tests/unit/X.c                 shared by tests; linked where it is used
# tests/e2e/X.c                  an application: what it links is CUDA, here the simulated one
# tests/e2e/plugins/X.c          a library that such an application loads, or that is preloaded beside ours
# tests/e2e/runtimes/          a program with two CUDA runtimes
# tests/e2e/static/            a program with a CUDA runtime inside
# tests/bench/analysis/X.c       linked to trace/ and analysis/
# tests/bench/X.c                an application; its CUDA does nothing, so that only our own cost is measured
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(UNIT_SRC))
E2E_BIN  := $(patsubst tests/e2e/%.c,$(BUILD)/tests/e2e/%,$(wildcard tests/e2e/*.c))
BENCH_SIM := $(BUILD)/tests/bench/simulator
E2E_PLUGIN := $(patsubst tests/e2e/plugins/%.c,$(BUILD)/tests/e2e/plugins/%.so,$(wildcard tests/e2e/plugins/*.c))
BENCH_BIN := $(patsubst tests/bench/%.c,$(BUILD)/tests/bench/%,$(filter-out tests/bench/simulator.c,$(wildcard tests/bench/*.c)))
BENCH_CUDART := $(BUILD)/tests/bench/libcudart.so.13
BENCH_ANALYSIS := $(patsubst tests/bench/analysis/%.c,$(BUILD)/tests/bench/%,$(wildcard tests/bench/analysis/*.c))
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
EXAMPLE_BIN := $(patsubst examples/c/%.c,$(BUILD)/examples/%,$(wildcard examples/c/*.c))
APP_SRC := $(wildcard tests/unit/*.c tests/e2e/*.c tests/e2e/plugins/*.c tests/e2e/static/*.c tests/e2e/runtimes/*.c tests/bench/*.c tests/bench/*/*.c tests/fuzz/*.c examples/c/*.c)

SIM_LINK = $(addprefix $(BUILD)/lib/sim/,libcudart.so.13 libcuda.so.1 libsimcore.so)
RPATH_SIM = -Wl,-rpath,$(abspath $(BUILD)/lib/sim)

$(call objs,$(APP_SRC)): ALL_CFLAGS += $(SYSCUDA13) -I$(BUILD)/include
$(call objs,$(APP_SRC)): | $(PUBLIC_HEADERS)
$(call objs,tests/e2e/nvtx.c): ALL_CFLAGS += -isystem build/nvtx/nvidia/cu13/include

# Archives, so that a test links just the modules it uses and may replace the others.
$(BUILD)/tests/libinterposer.a: $(INTERPOSER_OBJ)
$(BUILD)/tests/libanalysis.a: $(filter-out %/analysis/main.c.o,$(ANALYSIS_OBJ)) $(call objs,trace/writer.c)
$(BUILD)/tests/libshared.a: $(call objs,$(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c)))
$(BUILD)/tests/lib%.a:
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $^

$(BUILD)/tests/unit/test_sim_%: $(BUILD)/obj/tests/unit/test_sim_%.c.o $(BUILD)/tests/libshared.a $(SIM_LINK)
	@mkdir -p $(@D)
	$(CC) -o $@ $< $(BUILD)/tests/libshared.a $(SIM_LINK) $(RPATH_SIM) $(LDFLAGS_ALL) -lcmocka -lpthread -lm
$(BUILD)/tests/unit/test_interposer_%: $(BUILD)/obj/tests/unit/test_interposer_%.c.o $(BUILD)/tests/libshared.a $(BUILD)/tests/libinterposer.a
	@mkdir -p $(@D)
	$(CC) -o $@ $< $(BUILD)/tests/libshared.a $(BUILD)/tests/libinterposer.a $(LDFLAGS_ALL) -lcmocka -lpthread -lm
$(BUILD)/tests/unit/test_%: $(BUILD)/obj/tests/unit/test_%.c.o $(BUILD)/tests/libshared.a $(BUILD)/tests/libanalysis.a
	@mkdir -p $(@D)
	$(CC) -o $@ $< $(BUILD)/tests/libshared.a $(BUILD)/tests/libanalysis.a $(LDFLAGS_ALL) $(ANALYSIS_LIBS) -lcmocka -lpthread -lm
$(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.c.o $(BUILD)/obj/tests/fuzz/replay.c.o $(BUILD)/tests/libshared.a $(BUILD)/tests/libanalysis.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS_ALL) $(ANALYSIS_LIBS)

LINK_APPLICATION = @mkdir -p $(@D) && $(CC) -o $@ $< $(SIM_LINK) $(RPATH_SIM) $(LDFLAGS_ALL) -lpthread -lm
$(E2E_BIN): $(BUILD)/tests/e2e/%: $(BUILD)/obj/tests/e2e/%.c.o $(SIM_LINK)
	$(LINK_APPLICATION)
$(E2E_PLUGIN): $(BUILD)/tests/e2e/plugins/%.so: $(BUILD)/obj/tests/e2e/plugins/%.c.o $(SIM_LINK)
	@mkdir -p $(@D)
	$(CC) -shared -o $@ $< -Wl,--as-needed $(SIM_LINK) $(RPATH_SIM) $(LDFLAGS_ALL)
# One program, linked to the runtime's library and with a runtime inside; the second again without its symbols.
E2E_STATIC := $(addprefix $(BUILD)/tests/e2e/static/,shared static stripped)
$(BUILD)/tests/e2e/static/libcudart_static.a: $(BUILD)/obj/tests/e2e/static/cudart.c.o
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $^
$(BUILD)/tests/e2e/static/shared: $(BUILD)/obj/tests/e2e/static/waits.c.o $(SIM_LINK)
	$(LINK_APPLICATION)
$(BUILD)/tests/e2e/static/static: $(BUILD)/obj/tests/e2e/static/waits.c.o $(BUILD)/tests/e2e/static/libcudart_static.a
	$(CC) -o $@ $^ $(RPATH_SIM) $(LDFLAGS_ALL)
$(BUILD)/tests/e2e/static/stripped: $(BUILD)/tests/e2e/static/static
	strip -o $@ $<
# One library twice, for two versions of CUDA, and a program that loads both; it links no CUDA.
E2E_RUNTIMES := $(addprefix $(BUILD)/tests/e2e/runtimes/,main kernels12.so kernels13.so)
$(BUILD)/tests/e2e/runtimes/main: $(BUILD)/obj/tests/e2e/runtimes/main.c.o
	@mkdir -p $(@D)
	$(CC) -o $@ $< $(LDFLAGS_ALL)
$(BUILD)/tests/e2e/runtimes/kernels%.so: tests/e2e/runtimes/kernels.c $(BUILD)/lib/sim/libcudart.so.12 $(BUILD)/lib/sim/libcudart.so.13
	@mkdir -p $(@D)
	$(CC) -shared -o $@ $(filter-out -MMD -MP,$(ALL_CFLAGS)) $(SYSCUDA$*) $< $(BUILD)/lib/sim/libcudart.so.$* $(RPATH_SIM) $(LDFLAGS_ALL)
$(BENCH_CUDART): $(BUILD)/obj/tests/bench/nothing/cudart.c.o
	@mkdir -p $(@D)
	$(CC) -shared -o $@ $< -Wl,-soname,$(@F) $(LDFLAGS_ALL)
$(BENCH_BIN): $(BUILD)/tests/bench/%: $(BUILD)/obj/tests/bench/%.c.o $(BENCH_CUDART)
	@mkdir -p $(@D)
	$(CC) -o $@ $< $(BENCH_CUDART) -Wl,-rpath,'$$ORIGIN' $(LDFLAGS_ALL)
$(BENCH_ANALYSIS): $(BUILD)/tests/bench/%: $(BUILD)/obj/tests/bench/analysis/%.c.o $(BUILD)/tests/libanalysis.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS_ALL) $(ANALYSIS_LIBS) -lpthread
$(BENCH_SIM): $(BUILD)/obj/tests/bench/simulator.c.o $(SIM_LINK)
	$(LINK_APPLICATION)
$(EXAMPLE_BIN): $(BUILD)/examples/%: $(BUILD)/obj/examples/c/%.c.o $(SIM_LINK)
	$(LINK_APPLICATION)

.PHONY: test-programs unit-programs
test-programs: all unit-programs $(E2E_BIN) $(E2E_PLUGIN) $(E2E_STATIC) $(E2E_RUNTIMES) $(EXAMPLE_BIN) $(BENCH_BIN) $(BENCH_SIM)
unit-programs: $(UNIT_BIN) $(FUZZ_BIN)

# ---- test, demo, bench --------------------------------------------------------
.PHONY: test test-core demo bench fuzz-replay
test: test-programs | $(WANTED_DEPS) ## every test; `make deps test` sets up and tests
	@BUILD=$(BUILD) scripts/run-tests.sh unit fuzz cli e2e python torch torch-cuda12 clients engines lint
test-core: test-programs | $(WANTED_DEPS) ## every test that does without PyTorch
	@BUILD=$(BUILD) scripts/run-tests.sh unit fuzz cli e2e python lint
fuzz-replay: $(FUZZ_BIN) ## the kept inputs of the fuzz targets, once each
	@BUILD=$(BUILD) scripts/run-tests.sh fuzz
demo: all | $(WANTED_DEPS) ## record the example trainer on the simulated device and print the report
	@BUILD=$(BUILD) scripts/demo.sh
bench: all $(BENCH_BIN) $(BENCH_SIM) ## what recording adds to a call; leaves build/bench/*.json
	@BUILD=$(BUILD) scripts/bench.sh
	@BUILD=$(BUILD) scripts/bench-sim.sh

# ---- checks --------------------------------------------------------------------
.PHONY: lint format format-check sanitize
lint: all | $(WANTED_DEPS) ## warnings, include directions, forbidden calls, exports, sizes, cppcheck
	@BUILD=$(BUILD) scripts/run-tests.sh lint
FORMATTED = $(wildcard api/*.[ch] trace/*.[ch] interposer/*.[ch] sim/*.[ch] sim/*/*.[ch] analysis/*.[ch] \
              tests/*/*.[ch] tests/*/*/*.[ch] examples/c/*.c scripts/*.c)
format: ## clang-format on C sources; the .def tables are aligned by hand
	clang-format -i $(FORMATTED)
format-check: ## fails if `make format` would change a file
	clang-format --dry-run --Werror $(FORMATTED)
sanitize: | $(WANTED_DEPS) ## unit tests under ASan and UBSan, the interposer's C tests under TSan
	@scripts/sanitize.sh

# ---- pages made from tables ------------------------------------------------------
.PHONY: docs
docs: $(BUILD)/lib/libsynctally.so $(SIM_LIBS) ## docs/API-COVERAGE.md and SIM-COVERAGE.md, from the tables and what the libraries export
	@mkdir -p $(BUILD)/gen
	python3 scripts/api_coverage.py $< >$(BUILD)/gen/API-COVERAGE.md
	cp $(BUILD)/gen/API-COVERAGE.md docs/API-COVERAGE.md
	python3 scripts/sim_coverage.py $(SIMLIB) >$(BUILD)/gen/SIM-COVERAGE.md
	cp $(BUILD)/gen/SIM-COVERAGE.md docs/SIM-COVERAGE.md

# ---- install ----------------------------------------------------------------------
.PHONY: install uninstall clean distclean help
LIBDIR = $(DESTDIR)$(PREFIX)/lib/synctally
install: all ## to PREFIX (default /usr/local), below DESTDIR
	install -D -m 755 $(BUILD)/bin/synctally $(DESTDIR)$(PREFIX)/bin/synctally
	install -D -m 755 $(BUILD)/lib/libsynctally.so $(LIBDIR)/libsynctally.so
	install -d $(LIBDIR)/sim
	install -m 755 $(BUILD)/lib/sim/*.so* $(LIBDIR)/sim
	install -d $(DESTDIR)$(PREFIX)/include
	install -m 644 $(BUILD)/include/*.h $(DESTDIR)$(PREFIX)/include
uninstall: ## what install put there
	rm -rf $(LIBDIR)
	rm -f $(DESTDIR)$(PREFIX)/bin/synctally $(DESTDIR)$(PREFIX)/include/synctally.h \
	      $(DESTDIR)$(PREFIX)/include/synctally_sim.h

clean: ## what was built; downloads stay
	rm -rf $(addprefix build/,bin lib obj gen include tests examples demo bench asan asan.log tsan tsan.log lint-gcc lint-clang cppcheck test-logs)
distclean: ## everything under build/
	rm -rf build

help: ## this list
	@awk -F ':|## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$NF }' $(MAKEFILE_LIST)

# ---- tests/conformance: the rules of docs/SYNC-RULES.md, asked of whatever device the loader finds --------------
# Linked to the names of CUDA's libraries and to nothing of ours, without a run path: LD_LIBRARY_PATH or the system
# decides whether the device is simulated.
CONFORMANCE_OBJ := $(call objs,$(wildcard tests/conformance/*.c))
CONFORMANCE_BIN := $(BUILD)/tests/conformance/conformance
$(CONFORMANCE_OBJ): ALL_CFLAGS += $(SYSCUDA13)
$(CONFORMANCE_BIN): $(CONFORMANCE_OBJ) $(SIM_LINK)
	@mkdir -p $(@D)
	$(CC) -o $@ $(CONFORMANCE_OBJ) $(addprefix $(BUILD)/lib/sim/,libcudart.so.13 libcuda.so.1) \
		-Wl,-rpath-link,$(BUILD)/lib/sim $(LDFLAGS_ALL) -lpthread -ldl
test-programs: $(CONFORMANCE_BIN)

.PHONY: conformance gpu-check
conformance: $(CONFORMANCE_BIN) ## the rules of docs/SYNC-RULES.md, asked of the simulated device
	@SYNCTALLY_SIM=clock=virtual,kernel_ns=50000000 LD_LIBRARY_PATH=$(BUILD)/lib/sim $(CONFORMANCE_BIN)
gpu-check: $(CONFORMANCE_BIN) ## the same, asked of a GPU; skipped without one
	@BUILD=$(BUILD) tests/conformance/gpu-check.sh
