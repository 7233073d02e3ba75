// The table of all ops with a kernel: a row says what an op computes, plainly and in float64. The suites
// op_table and op_cuda check every row in every way, so a new op needs its row here and nothing else.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/graph/op.h"
#include "dataflow/values/tensor.h"

namespace actorflow::test {

// A tensor of any type but string as the reference sees it; booleans are 0 and 1.
struct Array {
  Shape shape;
  std::vector<double> values;

  double operator[](std::int64_t i) const { return values[static_cast<std::size_t>(i)]; }
};
using Arrays = std::vector<Array>;
// The outputs of an op for these inputs.
using Reference = std::function<Arrays(const Arrays&)>;

// An input: random elements from [low, high), rounded down for integers.
struct Input {
  DType dtype;
  Shape shape;
  double low = -2, high = 2;
};

struct OpRow {
  std::string_view op;
  std::string_view covers;  // what this row covers beyond the op's other rows; may be empty
  std::vector<Input> inputs;
  Attrs attrs;
  // Null if only devices are compared, because a suite of the op's own checks the values.
  Reference reference;
  // |actual - expected| <= tolerance max(1, |expected|), in float32. Integers and booleans are exact.
  double tolerance = 1e-6;
};

inline std::ostream& operator<<(std::ostream& out, const OpRow& row) {
  return out << row.op << (row.covers.empty() ? "" : ", ") << row.covers;
}

const std::vector<OpRow>& op_table();
bool has_gradient(const OpRow& row);

// The row's inputs, the same each time. Inputs of float32 get the dtype `floating`.
std::vector<Tensor> make_inputs(const OpRow& row, DType floating = DType::float32);
Array to_array(const Tensor& tensor);

}  // namespace actorflow::test
