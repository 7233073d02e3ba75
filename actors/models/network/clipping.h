// Clipping of gradients, as CompileOptions say.
#pragma once

#include <string>

#include "actors/models/network/compile_options.h"
#include "dataflow/train/replicate.h"

namespace actorflow {

// The transformation that clips; empty if none is asked for. Throws invalid_argument if several are, or
// for a bound below 0.
GradientTransform clipping_of(const CompileOptions& options);

// "clip_norm 0.5"; "none".
std::string describe_clipping(const CompileOptions& options);

}  // namespace actorflow
