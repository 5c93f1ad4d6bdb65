# SPDX-License-Identifier: Apache-2.0
"""cuda.core, the object interface above cuda-bindings. Marks as in bindings_calls.py."""

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch

BYTES = 1 << 16
PTX = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry kernel() { ret; }\n\0"

device = Device(0)
device.set_current()
stream, other = device.create_stream(), device.create_stream()
kernel = ObjectCode.from_ptx(PTX).get_kernel("kernel")
config = LaunchConfig(grid=8, block=128)

pinned = LegacyPinnedMemoryResource().allocate(BYTES)
memory = device.allocate(BYTES, stream=stream)
stream.sync()  #: explicit done_already

launch(stream, config, kernel)
stream.sync()  #: explicit drain
stream.sync()  #: explicit empty

memory.copy_from(pinned, stream=stream)
launch(stream, config, kernel)
memory.copy_to(pinned, stream=stream)
stream.sync()  #: readback d2h pinned drain

launch(stream, config, kernel)
event = stream.record()
launch(stream, config, kernel)
done = stream.record()
event.sync()  #: explicit drain
other.wait(done)
launch(other, config, kernel)
other.sync()  #: explicit drain
assert done.is_done
stream.sync()  #: explicit empty

# Not Device.sync(): it is the runtime's, and the one inside cuda-bindings asks the driver for tables nobody documents.
launch(device.default_stream, config, kernel)
device.default_stream.sync()  #: explicit drain
memory.close(stream)
pinned.close()  #: explicit empty
stream.close()
print("done")
