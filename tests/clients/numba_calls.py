# SPDX-License-Identifier: Apache-2.0
"""numba-cuda, as its manual uses it. Marks as in bindings_calls.py."""

import numpy
from numba import cuda, float32

N = 1000


@cuda.jit
def add(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += x[i]


@cuda.jit("void(float32[:], float32)")
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= factor


@cuda.jit(debug=True, opt=False)
def checked(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 1 / x[i]


@cuda.jit
def total(x, result):
    part = cuda.shared.array(128, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    if t == 0:
        for other in range(1, 128):
            part[0] += part[other]
        cuda.atomic.add(result, 0, part[0])


host = numpy.arange(N, dtype=numpy.float32)

# Arrays of the device.
x = cuda.to_device(host)  #: upload h2d pageable empty
y = cuda.device_array_like(x)
z = cuda.device_array(N, dtype=numpy.float32)
for _ in range(3):
    add[8, 128](x, y)
scale[8, 128](y, 2.0)
cuda.synchronize()  #: explicit drain
result = y.copy_to_host()  #: readback d2h pageable empty
add[8, 128](x, y)
y.copy_to_host(result)  #: readback d2h pageable drain
z.copy_to_device(y)
z.copy_to_device(host)  #: upload h2d pageable drain
first = x[0]  #: readback d2h pageable drain
x[0] = 5  #: explicit drain
part = x[10:20].copy_to_host()  #: readback d2h pageable empty

# Streams.
stream = cuda.stream()
on_stream = cuda.to_device(host, stream=stream)
add[8, 128, stream](on_stream, y)
stream.synchronize()  #: explicit drain
stream.synchronize()  #: explicit empty
add[8, 128, stream](on_stream, y)
on_stream.copy_to_host(result, stream=stream)  #: readback d2h pageable drain
pinned = cuda.pinned_array(N, dtype=numpy.float32)
on_stream.copy_to_host(pinned, stream=stream)
add[8, 128, stream](on_stream, y)
stream.synchronize()  #: readback d2h pinned drain
with stream.auto_synchronize():  #: explicit drain
    add[8, 128, stream](on_stream, y)

# Host arrays given to a kernel travel both ways, and each way back waits.
total[8, 128](host, result)  #: readback d2h pageable drain, explicit empty, readback d2h pageable empty, explicit empty

# A kernel with checks: after each launch numba reads whether it raised.
checked[8, 128](y)  #: readback d2h pageable drain

# Events.
begin, end = cuda.event(), cuda.event()
begin.record(stream)
add[8, 128, stream](on_stream, y)
end.record(stream)
end.synchronize()  #: explicit drain
assert end.query()
elapsed = cuda.event_elapsed_time(begin, end)
end.wait(cuda.default_stream())
cuda.default_stream().synchronize()  #: explicit done_already

# Memory the host and the device share.
mapped = cuda.mapped_array(N, dtype=numpy.float32)
managed = cuda.managed_array(N, dtype=numpy.float32)
managed[:] = 1
scale[8, 128](managed, 3.0)
scale[8, 128](mapped, 3.0)
cuda.current_context().synchronize()  #: explicit drain
with cuda.pinned(host):  #: implicit drain
    add[8, 128](x, y)
print("done")
