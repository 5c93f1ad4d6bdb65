# SPDX-License-Identifier: Apache-2.0
# How the libraries of the simulated device are built. Included by the Makefile.

# ---- cublas and vendor stubs
# The same sources for both CUDA versions; SONAME and version node are what programs were linked against.
# sim/vendor.c, which the stubs written at run time call, belongs to libsimcore.
CUBLAS_SRC := sim/cublas.c sim/cublas_launch.c
CUBLASLT_SRC := sim/cublaslt.c sim/cublas_launch.c

# $(1): library, $(2): CUDA major, $(3): sources
define CUBLAS_LIBRARY
$(BUILD)/obj/cublas$(2)/$(1).map:
	@mkdir -p $$(@D)
	echo '$(1).so.$(2) { global: cublas*; local: *; };' > $$@
$(BUILD)/lib/sim/$(1).so.$(2): $(patsubst %,$(BUILD)/obj/cublas$(2)/%.o,$(3)) $(BUILD)/obj/cublas$(2)/$(1).map \
		$(BUILD)/lib/sim/libsimcore.so
	@mkdir -p $$(@D)
	$$(CC) -shared -o $$@ $$(filter %.o,$$^) -Wl,-soname,$(1).so.$(2) -Wl,--version-script=$(BUILD)/obj/cublas$(2)/$(1).map \
		-Wl,-rpath,'$$$$ORIGIN' -L$(BUILD)/lib/sim -lsimcore $$(LDFLAGS_ALL)
all: $(BUILD)/lib/sim/$(1).so.$(2)
endef
define CUBLAS_OBJECTS
$(BUILD)/obj/cublas$(1)/%.c.o: %.c
	@mkdir -p $$(@D)
	$$(CC) $$(ALL_CFLAGS) $$(SYSCUDA13) -DSIM_BLAS_MAJOR=$(1) -c -o $$@ $$<
$(call CUBLAS_LIBRARY,libcublas,$(1),$(CUBLAS_SRC))
$(call CUBLAS_LIBRARY,libcublasLt,$(1),$(CUBLASLT_SRC))
endef
$(foreach major,12 13,$(eval $(call CUBLAS_OBJECTS,$(major))))
# ---- end of cublas and vendor stubs
