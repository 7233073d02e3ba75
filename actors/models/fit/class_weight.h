// Weights of classes, by which training multiplies the losses of their examples.
#pragma once

#include <cstddef>
#include <string>

#include "actors/models/fit/training_data.h"
#include "actors/models/network/compile_options.h"

namespace actorflow {

// Throws invalid_argument for weights below 0, for a model of several outputs, and if the examples have
// weights of their own.
void check_class_weight(const ClassWeight& weights, const CompileOptions& options, std::size_t outputs);

// The examples, each with the weight of its class at its end. The class is its label, rounded, or, of
// a label of several elements, the number of the largest. Reading throws invalid_argument for a class
// that has no weight. Without weights the examples are as they were.
TrainingData weighted_by_class(const TrainingData& data, const ClassWeight& weights);

// For people: "0: 1, 1: 2.5"; "none".
std::string describe(const ClassWeight& weights);

}  // namespace actorflow
