# SPDX-License-Identifier: Apache-2.0
# How the libraries of the simulated device are built. Included by the Makefile.
#
# libsimcore.so holds the device. libcuda.so.1 and libcudart.so.N are thin
# faces over it; what they do not implement refuses, by weak definitions made
# from the vendor's headers (gen_refusals.py).

SIMLIB   := $(BUILD)/lib/sim
SIM_GEN  := $(BUILD)/gen/sim
SIM_LD    = $(CC) -shared -o $@ -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' $(LDFLAGS_ALL)

# ---- libsimcore.so ----
# What the vendor libraries have in common, each with a copy of its own.
VENDOR_COMMON := sim/vendor_launch.c sim/torch_pin.c
VENDOR_SRC := $(wildcard sim/cudnn*.c sim/cufft*.c sim/cusolver*.c sim/cusparse*.c sim/nccl*.c) $(VENDOR_COMMON)
SIM_CORE_SRC := $(filter-out $(wildcard sim/cuda_*.c sim/cudart_*.c sim/cublas*.c sim/nvrtc.c sim/nvml.c sim/stub*.c) \
	$(VENDOR_SRC),$(wildcard sim/*.c))
SIM_CORE_OBJ := $(call objs,$(SIM_CORE_SRC))
$(SIM_CORE_OBJ): ALL_CFLAGS += $(SYSCUDA13)
$(SIMLIB)/libsimcore.so: $(SIM_CORE_OBJ)
	@mkdir -p $(@D)
	$(SIM_LD) -Wl,-Bsymbolic-functions $(SIM_CORE_OBJ) -lpthread

# What the core does not export is tested all the same.
SIM_RANGES_OBJ := $(call objs,sim/ranges.c sim/vector.c)
$(BUILD)/tests/unit/test_sim_ranges: $(SIM_RANGES_OBJ)
$(BUILD)/tests/unit/test_sim_ranges: LDFLAGS += $(SIM_RANGES_OBJ)

# ---- what only the headers know ----
# All declarations of a header, deprecated and per-thread spellings too.
SIM_DECLARED = $(CC) -E -P -D__CUDA_API_VERSION_INTERNAL -x c

# What the headers about graphics include and a machine without graphics lacks; names of functions do not depend on it.
SIM_FOREIGN := $(addprefix $(SIM_GEN)/foreign/,GL/gl.h EGL/egl.h EGL/eglext.h vdpau/vdpau.h cuda_runtime.h)
$(SIM_FOREIGN):
	@mkdir -p $(@D)
	touch $@
# $(1): headers, $(2): CUDA major
SIM_NAMES = printf '\#include <%s>\n' $(1) | $(SIM_DECLARED) -I $(SIM_GEN)/foreign $(SYSCUDA$(2)) -o $@ -

$(SIM_GEN)/cuda_%.i: sim/sim.mk $(SIM_FOREIGN) | $(CORE_STAMP)
	@mkdir -p $(@D)
	$(call SIM_NAMES,cuda.h cudaTypedefs.h cudaProfilerTypedefs.h cudaGL.h cudaEGL.h cudaVDPAU.h,$*)
$(SIM_GEN)/cudart_%.i: sim/sim.mk $(SIM_FOREIGN) | $(CORE_STAMP)
	@mkdir -p $(@D)
	$(call SIM_NAMES,cuda_runtime_api.h cuda_profiler_api.h cuda_gl_interop.h cuda_egl_interop.h cuda_vdpau_interop.h,$*)
$(SIM_GEN)/cuda_refusals.c: sim/gen_refusals.py $(SIM_GEN)/cuda_13.i $(SIM_GEN)/cuda_12.i
	python3 $< cuda $@ $(filter %.i,$^)
$(SIM_GEN)/cudart%_refusals.c: sim/gen_refusals.py $(SIM_GEN)/cudart_%.i
	python3 $< cudart $@ $(filter %.i,$^)
$(SIM_GEN)/%.o: $(SIM_GEN)/%.c
	$(CC) $(ALL_CFLAGS) -c -o $@ $<
.SECONDARY: $(foreach major,12 13,$(SIM_GEN)/cuda_$(major).i $(SIM_GEN)/cudart_$(major).i \
	$(SIM_GEN)/cudart$(major)_refusals.c)

# ---- libcuda.so.1 ----
# -Bsymbolic, like the real one: the table behind cuGetProcAddress() holds this library's own functions.
SIM_CUDA_SRC := $(wildcard sim/cuda_*.c)
SIM_CUDA_OBJ := $(call objs,$(SIM_CUDA_SRC)) $(SIM_GEN)/cuda_refusals.o
$(SIM_CUDA_OBJ): ALL_CFLAGS += $(SYSCUDA13) -D__CUDA_API_VERSION_INTERNAL
$(SIMLIB)/libcuda.so.1: $(SIM_CUDA_OBJ) $(SIMLIB)/libsimcore.so
	$(SIM_LD) -Wl,-Bsymbolic $(SIM_CUDA_OBJ) -L$(@D) -lsimcore -lpthread

# ---- libcudart.so.13 and .12: the same sources, each against its own headers ----
SIM_CUDART_SRC := $(wildcard sim/cudart_*.c)

# $(1): CUDA major
define SIM_CUDART
$(BUILD)/obj/cudart$(1)/%.c.o: %.c
	@mkdir -p $$(@D)
	$$(CC) $$(ALL_CFLAGS) $$(SYSCUDA$(1)) -D__CUDA_API_VERSION_INTERNAL -c -o $$@ $$<
$(SIM_GEN)/libcudart.so.$(1).map: sim/sim.mk
	@mkdir -p $$(@D)
	echo 'libcudart.so.$(1) { global: cuda*; __cuda*; local: *; };' > $$@
SIM_CUDART_OBJ_$(1) := $(SIM_CUDART_SRC:%=$(BUILD)/obj/cudart$(1)/%.o) $(SIM_GEN)/cudart$(1)_refusals.o
$(SIMLIB)/libcudart.so.$(1): $$(SIM_CUDART_OBJ_$(1)) $(SIM_GEN)/libcudart.so.$(1).map $(SIMLIB)/libsimcore.so
	$$(SIM_LD) -Wl,-Bsymbolic -Wl,--version-script=$(SIM_GEN)/libcudart.so.$(1).map $$(SIM_CUDART_OBJ_$(1)) \
		-L$$(@D) -lsimcore -lpthread -ldl
endef
$(foreach major,12 13,$(eval $(call SIM_CUDART,$(major))))

$(BUILD)/include/synctally_sim.h: sim/include/synctally_sim.h
	@mkdir -p $(@D)
	cp $< $@

SIM_LIBS := $(addprefix $(SIMLIB)/,libsimcore.so libcuda.so.1 libcudart.so.13 libcudart.so.12)
all: $(SIM_LIBS) $(BUILD)/include/synctally_sim.h

# ---- cublas and vendor stubs
# The same sources for both CUDA versions; SONAME and version node are what programs were linked against.
# sim/vendor.c, which the stubs written at run time call, belongs to libsimcore.
CUBLAS_SRC := sim/cublas.c sim/cublas_launch.c sim/vendor_launch.c
CUBLASLT_SRC := sim/cublaslt.c sim/cublas_launch.c sim/vendor_launch.c

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
$(BUILD)/obj/cublas$(1)/%.c.o: %.c | $(CORE_STAMP)
	@mkdir -p $$(@D)
	$$(CC) $$(ALL_CFLAGS) $$(SYSCUDA13) -DSIM_BLAS_MAJOR=$(1) -c -o $$@ $$<
$(call CUBLAS_LIBRARY,libcublas,$(1),$(CUBLAS_SRC))
$(call CUBLAS_LIBRARY,libcublasLt,$(1),$(CUBLASLT_SRC))
endef
$(foreach major,12 13,$(eval $(call CUBLAS_OBJECTS,$(major))))
# ---- end of cublas and vendor stubs

# ---- cuDNN, cuFFT, cuSOLVER, cuSPARSE and NCCL
# SONAMEs do not follow CUDA's number: $(1) library, $(2) number of the SONAME, $(3) prefix of its functions.
define VENDOR_LIBRARY
$(SIM_GEN)/lib$(1).so.$(2).map: sim/sim.mk
	@mkdir -p $$(@D)
	echo 'lib$(1).so.$(2) { global: $(3)*; local: *; };' > $$@
$(SIMLIB)/lib$(1).so.$(2): $(call objs,$(wildcard sim/$(1)*.c) $(VENDOR_COMMON)) $(SIM_GEN)/lib$(1).so.$(2).map \
		$(SIMLIB)/libsimcore.so
	@mkdir -p $$(@D)
	$$(SIM_LD) $$(filter %.o,$$^) -Wl,--version-script=$(SIM_GEN)/lib$(1).so.$(2).map -L$(SIMLIB) -lsimcore -lm
all: $(SIMLIB)/lib$(1).so.$(2)
endef
VENDOR_OBJ := $(call objs,$(VENDOR_SRC))
$(VENDOR_OBJ): ALL_CFLAGS += $(SYSCUDA13)
$(eval $(call VENDOR_LIBRARY,cudnn,9,cudnn))
$(eval $(call VENDOR_LIBRARY,cusparse,12,cusparse))
# CUDA 12 and 13 number these apart; what the calls mean is the same.
$(eval $(call VENDOR_LIBRARY,cufft,11,cufft))
$(eval $(call VENDOR_LIBRARY,cufft,12,cufft))
$(eval $(call VENDOR_LIBRARY,cusolver,11,cusolver))
$(eval $(call VENDOR_LIBRARY,cusolver,12,cusolver))
# NCCL knows no versions of symbols; the node's name is not asked for.
$(eval $(call VENDOR_LIBRARY,nccl,2,nccl))
# ---- end of cuDNN, cuFFT, cuSOLVER, cuSPARSE and NCCL

# ---- NVRTC: it follows CUDA's number, and its answers depend on it. $(1): CUDA major
define NVRTC_LIBRARY
$(BUILD)/obj/nvrtc$(1)/sim/nvrtc.c.o: sim/nvrtc.c | $(CORE_STAMP)
	@mkdir -p $$(@D)
	$$(CC) $$(ALL_CFLAGS) $$(SYSCUDA$(1)) -DSIM_NVRTC_MAJOR=$(1) -c -o $$@ $$<
$(SIM_GEN)/libnvrtc.so.$(1).map: sim/sim.mk
	@mkdir -p $$(@D)
	echo 'libnvrtc.so.$(1) { global: nvrtc*; local: *; };' > $$@
$(SIMLIB)/libnvrtc.so.$(1): $(BUILD)/obj/nvrtc$(1)/sim/nvrtc.c.o $(SIM_GEN)/libnvrtc.so.$(1).map $(SIMLIB)/libsimcore.so
	@mkdir -p $$(@D)
	$$(SIM_LD) $$(filter %.o,$$^) -Wl,--version-script=$(SIM_GEN)/libnvrtc.so.$(1).map -L$(SIMLIB) -lsimcore
all: $(SIMLIB)/libnvrtc.so.$(1)
endef
$(foreach major,12 13,$(eval $(call NVRTC_LIBRARY,$(major))))
# ---- end of NVRTC

# ---- NVML: one for all versions of CUDA
SIM_NVML_OBJ := $(call objs,sim/nvml.c)
$(SIM_NVML_OBJ): ALL_CFLAGS += $(SYSCUDA13)
$(SIM_GEN)/libnvidia-ml.so.1.map: sim/sim.mk
	@mkdir -p $(@D)
	echo '{ global: nvml*; local: *; };' > $@
$(SIMLIB)/libnvidia-ml.so.1: $(SIM_NVML_OBJ) $(SIM_GEN)/libnvidia-ml.so.1.map $(SIMLIB)/libsimcore.so
	@mkdir -p $(@D)
	$(SIM_LD) $(filter %.o,$^) -Wl,--version-script=$(SIM_GEN)/libnvidia-ml.so.1.map -L$(SIMLIB) -lsimcore
all: $(SIMLIB)/libnvidia-ml.so.1
# ---- end of NVML
