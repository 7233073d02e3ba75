#include "actors/shard/row_sums.h"

#include <algorithm>
#include <utility>

#include "dataflow/check.h"

namespace actorflow {
namespace {

template <class Do>
void with_type(DType dtype, Do&& body) {
  ACTORFLOW_CHECK(dtype == DType::float32 || dtype == DType::float64, to_string(dtype));
  if (dtype == DType::float32)
    body(float());
  else
    body(double());
}

}  // namespace

void RowSums::add(const GradientRows& gradient) {
  const auto indices = gradient.indices.values<std::int64_t>();
  if (indices.empty()) return;
  const DType dtype = gradient.values.dtype();
  const auto elements = gradient.values.elements() / std::ssize(indices);
  with_type(dtype, [&]<class T>(T) {
    const T* from = gradient.values.values<T>().data();
    for (const auto index : indices) {
      Row& row = rows_[index];
      if (!row.sum.valid()) row.sum = Tensor::zeros(dtype, {elements});
      ACTORFLOW_CHECK(row.sum.elements() == elements, "a row of", elements, "is added to one of",
                      row.sum.elements());
      const auto sum = row.sum.mutable_values<T>();
      for (T& value : sum) value += *from++;
      row.gradients += row.last != added_;
      row.last = added_;
    }
  });
  ++added_;
}

GradientRows RowSums::take(const TensorType& whole, bool mean) {
  const auto rows = std::exchange(rows_, {});
  Shape shape = whole.shape;
  shape.set(0, std::ssize(rows));
  GradientRows taken{Tensor::allocate(whole.dtype, shape),
                     Tensor::allocate(DType::int64, {std::ssize(rows)})};
  with_type(whole.dtype, [&]<class T>(T) {
    auto to = taken.values.mutable_values<T>().begin();
    for (const auto& [index, row] : rows)
      to = std::ranges::transform(row.sum.template values<T>(), to, [&](T value) {
             return mean ? value / static_cast<T>(row.gradients) : value;
           }).out;
  });
  std::ranges::transform(rows, taken.indices.mutable_values<std::int64_t>().begin(),
                         [](const auto& entry) { return entry.first; });
  return taken;
}

}  // namespace actorflow
