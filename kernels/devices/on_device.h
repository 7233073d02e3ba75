// The way of a tensor from one device of a process to another.
#pragma once

#include "kernels/devices/device.h"

namespace actorflow {

// The tensor where `device` can use it, which is itself if it is there already. Strings stay on the
// host. From one GPU to another it goes by way of the host. Throws Error if there is no memory.
// Thread-safe.
Tensor on_device(Tensor tensor, Device& device);

}  // namespace actorflow
