# SPDX-License-Identifier: Apache-2.0
#
# synctally: every target, one set of flags, no recursion. `make help` lists the targets, V=1 shows the commands.
#
# Objects go to $(BUILD) only. BUILD and SAN select another tree, as `make sanitize` does.

BUILD   ?= build
# One name for one tree. The dependency files name objects as make named them; an absolute BUILD would not find them again.
override BUILD := $(patsubst $(CURDIR)/%,%,$(BUILD))
ifeq ($(origin CC),default)
CC      := gcc
endif
PREFIX  ?= /usr/local
VERSION := 0.1.0

# CUDA headers: CUDA_HOME if it holds CUDA 13, else the header packages unpacked by `make deps-core`,
# which nothing is compiled before.
CUDA13  := $(if $(shell grep -s 'define CUDA_VERSION 13' $(CUDA_HOME)/include/cuda.h),$(CUDA_HOME)/include,build/cuda13/include)
CUDA12  := build/cuda12/include
CORE_STAMP := build/deps/core.stamp

WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
CFLAGS  ?= -O2 -g
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -fPIC -fvisibility=hidden -fno-strict-aliasing \
             -DSY_VERSION='"$(VERSION)"' -I. -MMD -MP $(SAN)
LDFLAGS_ALL = -Wl,--no-undefined -Wl,-z,relro,-z,now $(SAN) $(LDFLAGS)
SYSCUDA13 = -isystem $(CUDA13)
SYSCUDA12 = -isystem $(CUDA12)

# V=1 shows the commands.
ifneq ($(V),1)
.SILENT:
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all
all: ## the command line, the preload library and the simulated device
all:

objs = $(patsubst %,$(BUILD)/obj/%.o,$(1))

# ---- trace/ -------------------------------------------------------------
TRACE_READ_SRC  := $(filter-out trace/writer.c,$(wildcard trace/*.c))

# ---- interposer/: libsynctally.so ---------------------------------------
INTERPOSER_SRC := $(wildcard interposer/*.c interposer/*.S) trace/writer.c trace/maps.c trace/blind.c api/api.c
INTERPOSER_OBJ := $(call objs,$(INTERPOSER_SRC))
$(INTERPOSER_OBJ): ALL_CFLAGS += $(SYSCUDA13) -fno-omit-frame-pointer
# Runs inside dlsym before a sanitizer is ready.
$(BUILD)/obj/interposer/dl.c.o: ALL_CFLAGS += $(if $(SAN),-fno-sanitize=all)
$(BUILD)/lib/libsynctally.so: $(INTERPOSER_OBJ) interposer/exports.map
	@mkdir -p $(@D)
	$(CC) -shared -o $@ $(INTERPOSER_OBJ) -Wl,-soname,libsynctally.so -Wl,--version-script=interposer/exports.map $(LDFLAGS_ALL)
ifneq ($(wildcard interposer/init.c),)
all: $(BUILD)/lib/libsynctally.so
endif

# ---- analysis/: synctally -----------------------------------------------
ANALYSIS_SRC := $(wildcard analysis/*.c analysis/*.S) $(TRACE_READ_SRC)
ANALYSIS_OBJ := $(call objs,$(ANALYSIS_SRC))
ANALYSIS_LIBS = -lsmartcols -ljansson -lelf -lyaml -lsqlite3 -lavro -larchive -lm
CHART_JS ?= /usr/share/javascript/chart.js/chart.min.js
$(BUILD)/obj/analysis/embedded.S.o: ALL_CFLAGS += -DCHART_JS='"$(CHART_JS)"'
$(BUILD)/obj/analysis/embedded.S.o: analysis/page.html
$(BUILD)/bin/synctally: $(ANALYSIS_OBJ)
	@mkdir -p $(@D)
	$(CC) -o $@ $(ANALYSIS_OBJ) $(LDFLAGS_ALL) $(ANALYSIS_LIBS)
ifneq ($(wildcard analysis/main.c),)
all: $(BUILD)/bin/synctally
endif

# ---- sim/: the simulated device ------------------------------------------
include sim/sim.mk

# ---- rules ----------------------------------------------------------------
$(BUILD)/obj/%.c.o: %.c | $(CORE_STAMP)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<
$(BUILD)/obj/%.S.o: %.S | $(CORE_STAMP)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

include scripts/targets.mk
