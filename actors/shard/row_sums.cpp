#include "actors/shard/row_sums.h"

#include <algorithm>
#include <utility>

#include "dataflow/values/check.h"

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
  make_rows(indices, {dtype, {gradient.values.elements() / std::ssize(indices)}});
  with_type(dtype, [&]<class T>(T) {
    const T* from = gradient.values.values<T>().data();
    for (const auto index : indices) {
      Row& row = rows_.at(index);
      ACTORFLOW_CHECK(row.sum.elements() == gradient.values.elements() / std::ssize(indices),
                      "a row is added to one of", row.sum.elements());
      const auto sum = row.sum.mutable_values<T>();
      for (T& value : sum) value += *from++;
      row.gradients += row.last != added_;
      row.last = added_;
    }
  });
  ++added_;
}

// Makes the missing rows: all of them, or none for want of memory.
void RowSums::make_rows(std::span<const std::int64_t> indices, const TensorType& row) {
  try {
    for (const auto index : indices)
      if (Row& made = rows_[index]; !made.sum.valid()) made.sum = Tensor::zeros(row.dtype, row.shape);
  } catch (...) {
    std::erase_if(rows_, [](const auto& entry) { return entry.second.gradients == 0; });
    throw;
  }
}

GradientRows RowSums::take(const TensorType& whole, bool mean) {
  Shape shape = whole.shape;
  shape.set(0, std::ssize(rows_));
  GradientRows taken{Tensor::allocate(whole.dtype, shape),
                     Tensor::allocate(DType::int64, {std::ssize(rows_)})};
  const auto rows = std::exchange(rows_, {});
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
