#include "actors/collectives/operation/fusion.h"

#include <cstddef>
#include <cstring>

#include "dataflow/values/borrowed_buffer.h"
#include "dataflow/values/check.h"

namespace actorflow {
namespace {

// What is smaller is copied: a small tensor that lives for long would keep large ones alive.
constexpr std::size_t large_bytes = 2048;

// Where the next tensor begins, if those before it end at `end`.
std::size_t begin_of_next(FusedLayout layout, std::size_t end, std::size_t bytes) {
  if (layout == FusedLayout::packed || bytes < large_bytes) return end;
  return (end + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
}

Tensor part_of(const Tensor& all, std::size_t at, const Shape& shape) {
  const std::size_t size = static_cast<std::size_t>(shape.elements()) * size_of(all.dtype());
  if (size >= large_bytes) return {all.dtype(), shape, part_of(all.buffer(), at, size)};
  Tensor copy = Tensor::allocate(all.dtype(), shape);
  if (size > 0) std::memcpy(copy.mutable_data(), static_cast<const std::byte*>(all.data()) + at, size);
  return copy;
}

}  // namespace

Tensor fused(std::span<const Tensor> parts, FusedLayout layout, Allocator& allocator) {
  ACTORFLOW_CHECK(!parts.empty(), "no tensors to fuse");
  std::size_t end = 0;
  for (const Tensor& part : parts) {
    ACTORFLOW_CHECK(part.dtype() == parts[0].dtype() && part.dtype() != DType::string && part.on_host(),
                    part.describe(), "beside", parts[0].describe());
    end = begin_of_next(layout, end, part.size_bytes()) + part.size_bytes();
  }
  const auto elements = static_cast<std::int64_t>(end / size_of(parts[0].dtype()));
  Tensor all = Tensor::allocate(parts[0].dtype(), {elements}, allocator);
  auto* to = static_cast<std::byte*>(all.mutable_data());
  end = 0;
  for (const Tensor& part : parts) {
    const std::size_t begin = begin_of_next(layout, end, part.size_bytes());
    if (begin > end) std::memset(to + end, 0, begin - end);
    if (part.size_bytes() > 0) std::memcpy(to + begin, part.data(), part.size_bytes());
    end = begin + part.size_bytes();
  }
  return all;
}

std::vector<Tensor> cut(const Tensor& all, std::span<const Shape> shapes) {
  std::vector<Tensor> parts;
  parts.reserve(shapes.size());
  std::size_t end = 0;
  for (const Shape& shape : shapes) {
    const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(all.dtype());
    const std::size_t begin = begin_of_next(FusedLayout::aligned, end, bytes);
    end = begin + bytes;
    ACTORFLOW_CHECK(end <= all.size_bytes(), "a part that ends at", end, "of", all.describe());
    parts.push_back(part_of(all, begin, shape));
  }
  ACTORFLOW_CHECK(end == all.size_bytes(), "parts that end at", end, "of", all.describe());
  return parts;
}

}  // namespace actorflow
