# SPDX-License-Identifier: Apache-2.0
"""bindings_random.py SEED CALLS: a seeded program of driver calls by three threads, one at a time, on seven streams.
Prints a checksum of all results and of the memory read back, which must not depend on who watches."""

import concurrent.futures
import random
import sys
import zlib

import numpy
from cuda.bindings import driver

BYTES = 1 << 18
SIZES = [1, 4, 8, 16, 17, 4096, 65536, 65537, 200000]
PTX = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry kernel() { ret; }\n\0"

draw = random.Random(int(sys.argv[1]))
checksum = 0


def note(*values):
    global checksum
    checksum = zlib.crc32(repr([int(value) for value in values]).encode(), checksum)


def ok(result):
    code, *values = result
    assert code == driver.CUresult.CUDA_SUCCESS, code
    return values[0] if len(values) == 1 else values


def use_device():
    ok(driver.cuCtxSetCurrent(context))


ok(driver.cuInit(0))
context = ok(driver.cuDevicePrimaryCtxRetain(ok(driver.cuDeviceGet(0))))
use_device()
streams = [driver.CUstream(value) for value in (0, driver.CU_STREAM_LEGACY, driver.CU_STREAM_PER_THREAD)]
streams += [ok(driver.cuStreamCreate(flags)) for flags in (0, 0, 1, 1)]
events = [ok(driver.cuEventCreate(2)) for _ in range(8)]
device = [int(ok(driver.cuMemAlloc(BYTES))) for _ in range(2)]
pageable = [numpy.zeros(BYTES, dtype=numpy.uint8) for _ in range(2)]
registered = numpy.zeros(BYTES, dtype=numpy.uint8)
ok(driver.cuMemHostRegister(registered.ctypes.data, BYTES, 0))
pinned = [ok(driver.cuMemHostAlloc(BYTES, 0)), registered.ctypes.data]
kernel = ok(driver.cuModuleGetFunction(ok(driver.cuModuleLoadData(PTX)), b"kernel"))
extra = {}


def host():
    return draw.choice(pinned + [array.ctypes.data for array in pageable])


def launch():
    if draw.random() < 0.3:
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = draw.randint(1, 64), 1, 1
        config.blockDimX, config.blockDimY, config.blockDimZ = 32, 1, 1
        config.hStream = draw.choice(streams)
        return driver.cuLaunchKernelEx(config, kernel, 0, 0)
    return driver.cuLaunchKernel(kernel, draw.randint(1, 64), 1, 1, 32, 1, 1, 0, draw.choice(streams), 0, 0)


def copy():
    size, stream = draw.choice(SIZES), draw.choice(streams)
    down, up, across = (host(), draw.choice(device)), (draw.choice(device), host()), (device[1], device[0])
    calls = [
        lambda: driver.cuMemcpyDtoH(*down, size),
        lambda: driver.cuMemcpyHtoD(*up, size),
        lambda: driver.cuMemcpyDtoD(*across, size),
        lambda: driver.cuMemcpyDtoHAsync(*down, size, stream),
        lambda: driver.cuMemcpyDtoHAsync(*down, size, stream),
        lambda: driver.cuMemcpyHtoDAsync(*up, size, stream),
        lambda: driver.cuMemcpyHtoDAsync(*up, size, stream),
        lambda: driver.cuMemcpyDtoDAsync(*across, size, stream),
        lambda: driver.cuMemcpy(*draw.choice([down, up, across]), size),
        lambda: driver.cuMemcpyAsync(*draw.choice([down, up, across]), size, stream),
    ]
    return draw.choice(calls)()


def wait():
    event, stream = draw.choice(events), draw.choice(streams)
    calls = [
        lambda: driver.cuStreamSynchronize(stream),
        lambda: driver.cuStreamSynchronize(stream),
        lambda: driver.cuEventSynchronize(event),
        lambda: driver.cuCtxSynchronize(),
    ]
    return draw.choice(calls)()


def order():
    event, stream = draw.choice(events), draw.choice(streams)
    calls = [
        lambda: driver.cuEventRecord(event, stream),
        lambda: driver.cuEventRecord(event, stream),
        lambda: driver.cuStreamWaitEvent(stream, event, 0),
        lambda: driver.cuStreamQuery(stream),
        lambda: driver.cuEventQuery(event),
    ]
    return draw.choice(calls)()


def fill():
    target, size, stream = draw.choice(device + pinned), draw.choice(SIZES), draw.choice(streams)
    calls = [
        lambda: driver.cuMemsetD8(target, draw.randint(0, 255), size),
        lambda: driver.cuMemsetD8Async(target, draw.randint(0, 255), size, stream),
        lambda: driver.cuMemsetD32Async(target, draw.randint(0, 255), size // 4, stream),
    ]
    return draw.choice(calls)()


def memory():
    slot, stream = draw.randrange(12), draw.choice(streams)
    kind = slot % 3
    if slot not in extra:
        size = draw.choice(SIZES)
        extra[slot] = ok([driver.cuMemAlloc, driver.cuMemAllocHost, lambda n: driver.cuMemAllocAsync(n, stream)][kind](size))
        return (0,)
    return [driver.cuMemFree, driver.cuMemFreeHost, lambda at: driver.cuMemFreeAsync(at, stream)][kind](extra.pop(slot))


def fail():
    calls = [
        lambda: driver.cuMemFree(device[0] + 64),
        lambda: driver.cuMemcpyDtoH(pinned[0], 64, 16),
        lambda: driver.cuStreamSynchronize(driver.CUstream(0x77770)),
    ]
    return draw.choice(calls)()


def one_call():
    note(draw.choices([launch, copy, wait, order, fill, memory, fail], [30, 25, 15, 17, 6, 5, 2])[0]()[0])


threads = [concurrent.futures.ThreadPoolExecutor(1, initializer=use_device) for _ in range(2)]
for _ in range(int(sys.argv[2])):
    turn = draw.randrange(3)
    if turn == 2:
        one_call()
    else:
        threads[turn].submit(one_call).result()
ok(driver.cuCtxSynchronize())
note(*pageable[0][::97], *pageable[1][::97], *registered[::97])
print(f"{checksum:08x}")
