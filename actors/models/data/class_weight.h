// Weights of classes, by which training multiplies the losses of their examples.
#pragma once

#include <cstddef>
#include <string>

#include "actors/models/data/training_data.h"
#include "actors/models/network/compile_options.h"

namespace actorflow {

// Throws invalid_argument for weights below 0, for a model of several outputs, and if the examples have
// weights of their own.
void check_class_weight(const ClassWeight& weights, const CompileOptions& options, std::size_t outputs);

// What adds to a batch of examples, or none, the weights of their classes, float32 [batch]; empty
// without weights. A class is a label, rounded, or, of a label of several elements, the number of the
// largest. Throws invalid_argument for a class that has no weight.
Dataset::Map weighting(const ClassWeight& weights);

// For people: "0: 1, 1: 2.5"; "none".
std::string describe(const ClassWeight& weights);

}  // namespace actorflow
