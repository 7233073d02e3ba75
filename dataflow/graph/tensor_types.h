// Lists of tensor types, and their form as text, "float32[28,28] int64[]", in which an op's attributes
// describe tuples.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/graph/op.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

// An element of a queue or a dataset: tensors in a fixed order.
using Tuple = std::vector<Tensor>;

// "float32[28,28] int64[]".
std::string to_string(std::span<const TensorType> types);
// The types that a text lists. Throws invalid_argument that names the word that is no type.
std::vector<TensorType> parse_tensor_types(std::string_view text);

// The types of the tensors, in their order.
std::vector<TensorType> types_of(std::span<const Tensor> tuple);
// The types of the tensors as text: "uint8[28,28] int64[]".
std::string describe(std::span<const Tensor> tuple);
// Whether the tensors match the types in number, dtypes and shapes.
bool fits(std::span<const Tensor> tuple, std::span<const TensorType> types);

}  // namespace actorflow
