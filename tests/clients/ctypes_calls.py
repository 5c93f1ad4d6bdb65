# SPDX-License-Identifier: Apache-2.0
"""The driver as older bindings reach it: dlopen, dlsym, and calls through libffi. Marks as in bindings_calls.py."""

import ctypes

BYTES = 4096
cuda = ctypes.CDLL("libcuda.so.1")


def ok(code):
    assert code == 0, code


def new(function, *arguments, kind=ctypes.c_void_p):
    value = kind()
    ok(function(ctypes.byref(value), *arguments))
    return value


ok(cuda.cuInit(0))
ok(cuda.cuCtxSetCurrent(new(cuda.cuDevicePrimaryCtxRetain, 0)))
module = new(cuda.cuModuleLoadData, b".version 7.0\n.target sm_80\n.visible .entry kernel() { ret; }\n")
kernel = new(cuda.cuModuleGetFunction, module, b"kernel")
stream, event = new(cuda.cuStreamCreate, 1), new(cuda.cuEventCreate, 0)
memory = new(cuda.cuMemAlloc_v2, ctypes.c_size_t(BYTES), kind=ctypes.c_uint64)
pinned = new(cuda.cuMemHostAlloc, ctypes.c_size_t(BYTES), 0)
buffer = ctypes.create_string_buffer(bytes(range(256)) * 16, BYTES)
back = ctypes.create_string_buffer(BYTES)
size = ctypes.c_size_t(BYTES)

ok(cuda.cuMemcpyHtoD_v2(memory, buffer, size))  #: upload h2d pageable empty
ok(cuda.cuMemcpyDtoH_v2(back, memory, size))  #: readback d2h pageable drain
assert back.raw == buffer.raw
ok(cuda.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, None, None))
ok(cuda.cuMemcpyDtoHAsync_v2(pinned, memory, size, stream))
ok(cuda.cuStreamSynchronize(stream))  #: readback d2h pinned drain
ok(cuda.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, None, None))
ok(cuda.cuEventRecord(event, stream))
ok(cuda.cuEventSynchronize(event))  #: explicit drain
ok(cuda.cuCtxSynchronize())  #: explicit empty
ok(cuda.cuLaunchKernel_ptsz(kernel, 8, 1, 1, 128, 1, 1, 0, None, None, None))
ok(cuda.cuStreamSynchronize_ptsz(None))  #: explicit drain
ok(cuda.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, None, None))
ok(cuda.cuMemFree_v2(memory))  #: implicit drain
print("done")
