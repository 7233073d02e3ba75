// Layers that prepare what a model is given, so that they are saved, exported and distributed with it.
// What they know of the data is found before training: models/preprocessing/adapt.h.
//
//   Model model = sequential({normalization(moments_of(flowers)), dense(10, tanh), dense(3)});
#pragma once

#include <cstdint>
#include <vector>

#include "actors/layers/layer.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

// Mean and variance of each feature, float32 [features].
struct Moments {
  Tensor mean, variance;
};

// (x - mean) / max(sqrt(variance), 1e-7) for x [batch, ..., features], of any dtype of numbers, along
// the last axis. The moments are among the model's weights, but not trained. Without any they are 0 and
// 1 until load() brings those that were saved. Throws invalid_argument for moments that are none, and
// the model does for another number of features.
Layer normalization(const Moments& moments = {});

// int64 of the shape of x: in which of the buckets (-inf, b0), [b0, b1), ... each number lies, from 0
// on, one more than there are boundaries. NaN is in the first. The boundaries are among the model's
// weights, so that load() replaces them. Throws invalid_argument unless they rise and are finite.
Layer discretization(const std::vector<float>& boundaries);

enum class CategoryEncoding : std::uint8_t {
  one_hot,    // ids [batch] or [batch, 1] -> [batch, categories]: 1 at the id
  multi_hot,  // ids [batch, n] -> [batch, categories]: 1 at each of the ids
  count,      // the same: how many of the ids each one is
};
// float32 of ids, int32 or int64. An id outside [0, categories), such as -1, counts nowhere.
Layer category_encoding(std::int64_t categories,
                        CategoryEncoding encoding = CategoryEncoding::multi_hot);

}  // namespace actorflow
