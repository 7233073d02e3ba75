// The images of the training benchmarks.
#pragma once

#include "apps/training/mnist.h"

namespace actorflow::bench {

// MNIST from the project's own folder; loaded when it is first asked for. Thread-safe.
const Mnist& mnist();

}  // namespace actorflow::bench
