// A tensor seen as a matrix whose columns are its last axis.
#pragma once

#include <cstdint>

#include "kernels/core/dtypes.h"

namespace actorflow {

struct Rows {
  std::int64_t rows, columns;
};

// The rows of a tensor. Throws invalid_argument unless it has a last axis.
inline Rows rows_of(const OpContext& context, const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  if (shape.rank() < 1) context.fail("a tensor with a last axis", tensor.describe());
  const std::int64_t columns = shape[shape.rank() - 1];
  return {columns == 0 ? 0 : tensor.elements() / columns, columns};
}

// For shape functions: throws unless the first input has one of the dtypes, and a last axis.
template <class Types = FloatingTypes>
void expect_rows(const InferContext& context) {
  expect_dtype_in<Types>(context, 0);
  if (context.input(0).shape.rank() == 0)
    context.fail("a floating tensor with a last axis", context.input(0).to_string());
}

}  // namespace actorflow
