// How exact the products of a model are: TensorFlow's enable_tensor_float_32_execution, per node.
#pragma once

#include <cstdint>
#include <string_view>

#include "dataflow/graph/op.h"

namespace actorflow {

// Of products of float32: to what the factors may be rounded. Sums and results stay float32. It is a
// permission: a device that would not be faster for it computes more exactly.
enum class Precision : std::uint8_t {
  float32,
  tf32,  // 10 bits of mantissa: the tensor cores of GPUs
  bf16,  // 7 bits of mantissa: these, and AMX on CPUs
};

std::string_view to_string(Precision precision);
// Throws invalid_argument that lists the known names.
Precision parse_precision(std::string_view name);

// The attribute "precision" of the ops that multiply matrices or convolve. A node that does not say gets
// that of the scope (Graph::precision); a gradient has that of its node.
AttrDef precision_attr();
// float32 for a node without the attribute; throws invalid_argument, naming the node, for an unknown
// name.
Precision precision_of(const Node& node);
// Throws through InferContext::fail.
void expect_precision(const InferContext& c);

}  // namespace actorflow
