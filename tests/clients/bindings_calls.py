# SPDX-License-Identifier: Apache-2.0
"""The driver's interface through cuda-bindings. What waits in a line is said behind "#:", and the tests read it:
class, direction and memory of the host's end, and what the wait found."""

import numpy
from cuda.bindings import driver

SMALL, BIG = 4096, 1 << 20
PTX = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry kernel() { ret; }\n\0"


def ok(result):
    """The values of a call that succeeded."""
    code, *values = result
    assert code == driver.CUresult.CUDA_SUCCESS, code
    return values[0] if len(values) == 1 else values


ok(driver.cuInit(0))
device = ok(driver.cuDeviceGet(0))
ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(device))))

stream = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
blocking = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_DEFAULT))
urgent = ok(driver.cuStreamCreateWithPriority(driver.CUstream_flags.CU_STREAM_NON_BLOCKING, -1))
LEGACY, PER_THREAD = driver.CUstream(driver.CU_STREAM_LEGACY), driver.CUstream(driver.CU_STREAM_PER_THREAD)
event, later = ok(driver.cuEventCreate(0)), ok(driver.cuEventCreate(0))

memory, other = ok(driver.cuMemAlloc(BIG)), ok(driver.cuMemAlloc(BIG))
array, big = numpy.arange(SMALL, dtype=numpy.uint8), numpy.ones(BIG, dtype=numpy.uint8)
pageable, pageable_big = array.ctypes.data, big.ctypes.data
pinned = ok(driver.cuMemHostAlloc(BIG, 0))
registered = numpy.zeros(BIG, dtype=numpy.uint8)
ok(driver.cuMemHostRegister(registered.ctypes.data, BIG, 0))
managed = ok(driver.cuMemAllocManaged(SMALL, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value))

module = ok(driver.cuModuleLoadDataEx(PTX, 0, [], []))
kernel = ok(driver.cuModuleGetFunction(module, b"kernel"))


def launch(on, n=1):
    for _ in range(n):
        ok(driver.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, on, 0, 0))


# Synchronous forms, on the legacy stream.
ok(driver.cuMemcpyHtoD(memory, pageable, SMALL))  #: upload h2d pageable empty
ok(driver.cuMemcpyHtoD(memory, pinned, SMALL))  #: upload h2d pinned drain
ok(driver.cuMemcpyDtoD(other, memory, SMALL))
ok(driver.cuMemcpyDtoH(pageable, memory, SMALL))  #: readback d2h pageable drain
ok(driver.cuMemcpyDtoH(pinned, memory, SMALL))  #: readback d2h pinned empty
ok(driver.cuMemcpyDtoH(registered.ctypes.data, memory, SMALL))  #: readback d2h pinned empty
assert (array == registered[:SMALL]).all()
launch(LEGACY)
ok(driver.cuMemcpy(int(other), int(memory), SMALL))
ok(driver.cuMemcpy(pinned, int(memory), SMALL))  #: readback d2h pinned drain
ok(driver.cuMemsetD8(memory, 7, SMALL))
ok(driver.cuMemsetD32(memory, 7, SMALL // 4))

# Asynchronous forms.
launch(stream, 3)
ok(driver.cuMemcpyHtoDAsync(memory, pinned, BIG, stream))
ok(driver.cuMemcpyDtoHAsync(pinned, memory, BIG, stream))
ok(driver.cuMemcpyDtoHAsync(registered.ctypes.data, memory, BIG, stream))
ok(driver.cuStreamSynchronize(stream))  #: readback d2h pinned drain
ok(driver.cuStreamSynchronize(stream))  #: explicit empty
launch(stream)
ok(driver.cuMemcpyHtoDAsync(memory, pageable, SMALL, stream))
ok(driver.cuMemcpyDtoHAsync(pageable, memory, SMALL, stream))  #: readback d2h pageable drain
ok(driver.cuMemcpyDtoDAsync(other, memory, SMALL, stream))
ok(driver.cuMemcpyAsync(int(other), int(memory), SMALL, stream))
ok(driver.cuMemcpyAsync(pageable, int(memory), SMALL, stream))  #: readback d2h pageable drain
ok(driver.cuMemsetD8Async(memory, 0, SMALL, stream))

# Events.
launch(stream)
ok(driver.cuEventRecord(event, stream))
launch(stream)
ok(driver.cuEventRecord(later, stream))
ok(driver.cuEventSynchronize(event))  #: explicit drain
ok(driver.cuStreamWaitEvent(urgent, later, 0))
launch(urgent)
ok(driver.cuStreamSynchronize(urgent))  #: explicit drain
ok(driver.cuEventSynchronize(later))  #: explicit empty
ok(driver.cuEventElapsedTime(event, later))

# Queries, host functions.
launch(stream)
while driver.cuStreamQuery(stream)[0] == driver.CUresult.CUDA_ERROR_NOT_READY:
    pass
ok(driver.cuStreamSynchronize(stream))  #: explicit empty
launch(stream)
ok(driver.cuEventRecord(event, stream))
while driver.cuEventQuery(event)[0] == driver.CUresult.CUDA_ERROR_NOT_READY:
    pass
ok(driver.cuEventSynchronize(event))  #: explicit empty

# The default streams, by handle.
launch(blocking)
ok(driver.cuStreamSynchronize(LEGACY))  #: explicit drain
launch(LEGACY)
ok(driver.cuStreamSynchronize(PER_THREAD))  #: explicit empty
launch(PER_THREAD)
ok(driver.cuStreamSynchronize(PER_THREAD))  #: explicit drain
launch(stream)
ok(driver.cuStreamSynchronize(driver.CUstream(0)))  #: explicit empty
ok(driver.cuCtxSynchronize())  #: explicit drain

# Launches with attributes, managed memory, memory in stream order.
config = driver.CUlaunchConfig()
config.gridDimX, config.gridDimY, config.gridDimZ = 8, 1, 1
config.blockDimX, config.blockDimY, config.blockDimZ = 128, 1, 1
config.hStream = stream
ok(driver.cuLaunchKernelEx(config, kernel, 0, 0))
ok(driver.cuMemcpyAsync(int(managed), int(memory), SMALL, stream))
ordered = ok(driver.cuMemAllocAsync(SMALL, stream))
ok(driver.cuMemFreeAsync(ordered, stream))
ok(driver.cuStreamSynchronize(stream))  #: explicit drain

# A graph: what is captured waits for nothing, and one launch of it is one wait.
ok(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
launch(stream, 4)
ok(driver.cuMemcpyDtoHAsync(pinned, memory, SMALL, stream))
graph = ok(driver.cuStreamEndCapture(stream))
executable = ok(driver.cuGraphInstantiate(graph, 0))
ok(driver.cuStreamSynchronize(stream))  #: explicit empty
ok(driver.cuGraphLaunch(executable, stream))
ok(driver.cuStreamSynchronize(stream))  #: explicit drain
ok(driver.cuGraphExecDestroy(executable))
ok(driver.cuGraphDestroy(graph))

# What fails waits for nothing.
assert driver.cuStreamSynchronize(driver.CUstream(0x123450))[0] != driver.CUresult.CUDA_SUCCESS
assert driver.cuMemcpyDtoH(pageable, driver.CUdeviceptr(64), SMALL)[0] != driver.CUresult.CUDA_SUCCESS

# The end of memory.
launch(stream)
ok(driver.cuMemFree(other))  #: implicit drain
ok(driver.cuMemFree(memory))
launch(stream)
ok(driver.cuMemHostUnregister(registered.ctypes.data))  #: implicit drain
launch(stream)
ok(driver.cuMemFreeHost(pinned))  #: implicit drain
ok(driver.cuMemFree(managed))
launch(stream)
ok(driver.cuStreamDestroy(stream))
ok(driver.cuModuleUnload(module))
ok(driver.cuDevicePrimaryCtxRelease(device))
print("done")
