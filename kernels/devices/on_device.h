// Copies between the devices of a process.
#pragma once

#include "kernels/devices/device.h"

namespace actorflow {

// The tensor on `device`: the same one if it is there already, else a copy. Strings stay on the host.
// Copies between GPUs go through the host. Throws Error if there is no memory. Thread-safe.
Tensor on_device(Tensor tensor, Device& device);

}  // namespace actorflow
