#include "actors/collectives/engine/fusion.h"

#include <cstddef>
#include <cstring>

#include "dataflow/values/check.h"

namespace actorflow {

Tensor fused(std::span<const Tensor> parts) {
  ACTORFLOW_CHECK(!parts.empty(), "no tensors to fuse");
  std::int64_t elements = 0;
  for (const Tensor& part : parts) {
    ACTORFLOW_CHECK(part.dtype() == parts[0].dtype() && part.dtype() != DType::string && part.on_host(),
                    part.describe(), "beside", parts[0].describe());
    elements += part.elements();
  }
  Tensor all = Tensor::allocate(parts[0].dtype(), {elements});
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
  const auto* from = static_cast<const std::byte*>(all.data());
  for (const Shape& shape : shapes) {
    Tensor part = Tensor::allocate(all.dtype(), shape);
    if (part.size_bytes() > 0) std::memcpy(part.mutable_data(), from, part.size_bytes());
    from += part.size_bytes();
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace actorflow
