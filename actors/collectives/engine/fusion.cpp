#include "actors/collectives/engine/fusion.h"

#include <cstddef>
#include <cstring>

#include "dataflow/values/borrowed_buffer.h"
#include "dataflow/values/check.h"

namespace actorflow {
namespace {

// What is smaller is copied: a small tensor that lives for long would keep large ones alive.
constexpr std::size_t large_bytes = 4096;

Tensor part_of(const Tensor& all, std::size_t at, const Shape& shape) {
  const std::size_t size = static_cast<std::size_t>(shape.elements()) * size_of(all.dtype());
  if (size >= large_bytes && at % buffer_alignment == 0)
    return {all.dtype(), shape, part_of(all.buffer(), at, size)};
  Tensor copy = Tensor::allocate(all.dtype(), shape);
  if (size > 0) std::memcpy(copy.mutable_data(), static_cast<const std::byte*>(all.data()) + at, size);
  return copy;
}

}  // namespace

Tensor fused(std::span<const Tensor> parts, Allocator& allocator) {
  ACTORFLOW_CHECK(!parts.empty(), "no tensors to fuse");
  std::int64_t elements = 0;
  for (const Tensor& part : parts) {
    ACTORFLOW_CHECK(part.dtype() == parts[0].dtype() && part.dtype() != DType::string && part.on_host(),
                    part.describe(), "beside", parts[0].describe());
    elements += part.elements();
  }
  Tensor all = Tensor::allocate(parts[0].dtype(), {elements}, allocator);
  auto* to = static_cast<std::byte*>(all.mutable_data());
  for (const Tensor& part : parts) {
    if (part.size_bytes() > 0) std::memcpy(to, part.data(), part.size_bytes());
    to += part.size_bytes();
  }
  return all;
}

std::vector<Tensor> cut(const Tensor& all, std::span<const Shape> shapes) {
  std::int64_t elements = 0;
  for (const Shape& shape : shapes) elements += shape.elements();
  ACTORFLOW_CHECK(elements == all.elements(), "parts with", elements, "elements of", all.describe());
  std::vector<Tensor> parts;
  std::size_t at = 0;
  for (const Shape& shape : shapes) {
    parts.push_back(part_of(all, at, shape));
    at += parts.back().size_bytes();
  }
  return parts;
}

}  // namespace actorflow
