// tf.train.Example: named lists of strings, floats or integers, the usual record of TFRecord files.
// Everything here is thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/graph/tensor_types.h"

namespace actorflow {

// A feature to read from each example: TensorFlow's FixedLenFeature, or FixedLenSequenceFeature if the
// first dimension of the shape is unknown.
struct ExampleFeature {
  std::string name;
  DType dtype = DType::float32;  // float32, int64 or string: the three that examples have
  Shape shape = {};
  // The value for examples that lack the feature; if there is none, that is an error.
  std::optional<Tensor> default_value = std::nullopt;
};

// Throws invalid_argument for features that no example can have: another dtype, a shape with an unknown
// dimension that is not the first, a default value of another type.
void check_features(std::span<const ExampleFeature> features);

// One tensor per feature, in their order; other features of the example are ignored. Throws data_loss if
// the bytes are no example, and invalid_argument, naming the feature, if one is missing, is of another
// type or has another number of values. REQUIRES: check_features() has passed.
Tuple parse_example(std::string_view bytes, std::span<const ExampleFeature> features);

// The inverse; shapes are not stored. Throws invalid_argument for other dtypes.
std::string encode_example(const std::map<std::string, Tensor>& features);

}  // namespace actorflow
