// What the layers of a model cost where it trains, measured for the cut of a pipeline.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "actors/layers/functional.h"
#include "actors/models/network/compile_options.h"
#include "actors/models/pipeline/stages.h"
#include "actors/runtime/runtime.h"

namespace actorflow {

// Seconds of a forward and a backward pass of each layer by itself over one micro-batch: the fastest of
// a few, without what a step costs that does nothing. `inputs` are the model's, with a row for each
// example of the micro-batch; variables have their initial values. Runs in a server of its own on the
// threads of `runtime`, on this device of it ("" = a CPU). None where time does not pass, as in a
// simulation. `building` is held while the graphs are built, for which functions of layers are called,
// not while they run. Throws what layers and their kernels throw, and std::bad_alloc.
LayerCosts measure_layers(const Architecture& architecture, const Tuple& inputs,
                          const CompileOptions& options, const std::string& device,
                          const std::shared_ptr<Runtime>& runtime, std::mutex& building);

}  // namespace actorflow
