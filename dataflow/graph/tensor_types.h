// Lists of tensor types as text, such as "float32[28,28] int64[]": how an op's attributes describe tuples.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/graph/op.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

// What a queue or a dataset holds of one thing: its tensors, in a fixed order.
using Tuple = std::vector<Tensor>;

std::string to_string(std::span<const TensorType> types);
// Throws invalid_argument that names the word which is no type.
std::vector<TensorType> parse_tensor_types(std::string_view text);

// "uint8[28,28] int64[]".
std::string describe(std::span<const Tensor> tuple);
// Whether the tensors are as many as the types, of their dtypes and of shapes that fit.
bool fits(std::span<const Tensor> tuple, std::span<const TensorType> types);

}  // namespace actorflow
