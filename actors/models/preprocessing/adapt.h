// What preprocessing layers (layers/preprocessing.h) learn from data before training: `adapt` of Keras.
//
// Each function reads the data once, to their end; `component` is the number of a tensor of an example.
// Equal data give the same bits, so each task of a cluster may call it for itself. Everything throws
// what reading throws, and invalid_argument for data without examples, a component that there is not,
// and values that are not numbers or not finite, with their example.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/input/dataset.h"
#include "actors/layers/preprocessing.h"

namespace actorflow {

// Of each feature along the last axis: mean and variance over examples and all other axes, summed up in
// float64. Examples that are single numbers have one feature.
Moments moments_of(const Dataset& examples, std::size_t component = 0);
// The same of the rows of a tensor.
Moments moments_of(const Tensor& rows);

// Boundaries for discretization() that divide all numbers of the component into `bins` parts of equally
// many, where equal numbers allow that: less boundaries, if some would be equal. Holds all numbers in
// memory, 4 bytes each.
std::vector<float> boundaries_of(const Dataset& examples, std::int64_t bins, std::size_t component = 0);

}  // namespace actorflow
