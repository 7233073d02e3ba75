// The precision of products: TensorFlow's enable_tensor_float_32_execution, per node.
#pragma once

#include <cstdint>
#include <string_view>

#include "dataflow/graph/op.h"

namespace actorflow {

// The type to which the factors of float32 products may be rounded; sums and results stay float32. It is
// a permission: a device that would not be faster computes more exactly.
enum class Precision : std::uint8_t {
  float32,
  tf32,  // 10 bits of mantissa: the tensor cores of GPUs
  bf16,  // 7 bits of mantissa: these, and AMX on CPUs
};

std::string_view to_string(Precision precision);
// The precision of that name. Throws invalid_argument that lists the known names.
Precision parse_precision(std::string_view name);

// The attribute "precision" of the ops that multiply matrices or convolve. A node without a value gets
// that of its scope (Graph::precision); a gradient has the precision of its node.
AttrDef precision_attr();
// The precision of a node; float32 without the attribute. Throws invalid_argument, naming the node, for
// an unknown name.
Precision precision_of(const Node& node);
// Throws through InferContext::fail unless the attribute is the name of a precision.
void expect_precision(const InferContext& c);

}  // namespace actorflow
