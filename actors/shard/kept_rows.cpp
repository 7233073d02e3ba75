#include "actors/shard/kept_rows.h"

#include <cstring>
#include <set>
#include <vector>

namespace actorflow {
namespace {

std::size_t row_bytes(const Tensor& table) {
  return table.shape()[0] == 0 ? 0 : table.size_bytes() / static_cast<std::size_t>(table.shape()[0]);
}
std::byte* bytes_of(Tensor& tensor) { return static_cast<std::byte*>(tensor.mutable_data()); }
const std::byte* bytes_of(const Tensor& tensor) { return static_cast<const std::byte*>(tensor.data()); }

}  // namespace

GradientRows copy_rows(const Tensor& table, std::span<const Gradient> gradients) {
  std::set<std::int64_t> indices;
  for (const auto& gradient : gradients)
    for (const auto& rows : gradient.rows) {
      const auto some = rows.indices.values<std::int64_t>();
      indices.insert(some.begin(), some.end());
    }
  const auto count = static_cast<std::int64_t>(indices.size());
  Shape shape = table.shape();
  shape.set(0, count);
  GradientRows kept{Tensor::allocate(table.dtype(), shape), Tensor::allocate(DType::int64, {count})};
  const std::size_t size = row_bytes(table);
  auto index_to = kept.indices.mutable_values<std::int64_t>().begin();
  std::byte* to = count == 0 ? nullptr : bytes_of(kept.values);
  for (const auto index : indices) {
    *index_to++ = index;
    if (size > 0) std::memcpy(to, bytes_of(table) + static_cast<std::size_t>(index) * size, size);
    to += size;
  }
  return kept;
}

Tensor with_rows(const Tensor& table, const GradientRows& rows) {
  Tensor copy = Tensor::allocate(table.dtype(), table.shape());
  if (table.size_bytes() == 0) return copy;
  std::byte* const to = bytes_of(copy);
  std::memcpy(to, table.data(), table.size_bytes());
  const std::size_t size = row_bytes(table);
  const auto indices = rows.indices.values<std::int64_t>();
  for (std::size_t i = 0; i < indices.size(); ++i)
    std::memcpy(to + static_cast<std::size_t>(indices[i]) * size, bytes_of(rows.values) + i * size,
                size);
  return copy;
}

}  // namespace actorflow
