#include "dataflow/values/tensor.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "dataflow/values/check.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Owns the std::string objects of string tensors.
class StringHeap final : public Allocator {
 public:
  BufferRef allocate(std::size_t size_bytes) override {
    const auto count = size_bytes / sizeof(std::string);
    auto* strings = new std::string[count];
    return BufferRef(new Buffer(strings, size_bytes, *this));
  }

 private:
  void release(Buffer* buffer) override {
    delete[] static_cast<std::string*>(buffer->data());
    delete buffer;
  }
};

Allocator& string_heap() {
  static auto* instance = new StringHeap;
  return *instance;
}

}  // namespace

Tensor::Tensor(DType dtype, const Shape& shape, BufferRef buffer)
    : dtype_(dtype), shape_(shape), elements_(shape.elements()), buffer_(std::move(buffer)) {}

Tensor Tensor::allocate(DType dtype, const Shape& shape, Allocator& allocator) {
  if (!shape.fully_known())
    throw invalid_argument("a tensor needs a fully known shape, but got " + shape.to_string());
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.elements(), static_cast<std::int64_t>(size_of(dtype)), &bytes))
    throw invalid_argument("a tensor of shape " + shape.to_string() + " has more than 2^63 bytes");
  auto& owner = dtype == DType::string ? string_heap() : allocator;
  return Tensor(dtype, shape, owner.allocate(static_cast<std::size_t>(bytes)));
}

Tensor Tensor::zeros(DType dtype, const Shape& shape, Allocator& allocator) {
  Tensor tensor = allocate(dtype, shape, allocator);
  if (dtype != DType::string) std::memset(tensor.mutable_data(), 0, tensor.size_bytes());
  return tensor;
}

std::size_t Tensor::size_bytes() const {
  auto bytes = static_cast<std::size_t>(elements_) * size_of(dtype_);
  if (dtype_ == DType::string)
    for (const auto& text : values<std::string>()) bytes += text.size();
  return bytes;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (!shape.fully_known() || shape.elements() != elements_)
    throw invalid_argument("cannot reshape " + describe() + " to " + shape.to_string() + ": it has " +
                           std::to_string(elements_) + " elements");
  Tensor result = *this;
  result.shape_ = shape;
  return result;
}

Tensor Tensor::clone(Allocator& allocator) const {
  ACTORFLOW_CHECK(on_host(), describe());
  Tensor copy = allocate(dtype_, shape_, allocator);
  if (dtype_ == DType::string)
    std::ranges::copy(values<std::string>(), copy.mutable_values<std::string>().begin());
  else if (elements_ > 0)
    std::memcpy(copy.mutable_data(), data(), size_bytes());
  return copy;
}

std::string Tensor::describe() const {
  return std::string(actorflow::to_string(dtype_)) + shape_.to_string();
}

void Tensor::check_access(DType wanted) const {
  if (dtype_ != wanted)
    throw invalid_argument("expected a tensor of " + std::string(actorflow::to_string(wanted)) +
                           ", but it is " + describe());
  if (!on_host()) throw invalid_argument(describe() + " lives on a GPU; copy it to the host first");
}

void Tensor::check_scalar(DType wanted) const {
  if (elements_ != 1 || dtype_ != wanted)
    throw invalid_argument("expected one element of " + std::string(actorflow::to_string(wanted)) +
                           ", but the tensor is " + describe());
}

void Tensor::check_count(std::size_t values) const {
  if (static_cast<std::int64_t>(values) != elements_)
    throw invalid_argument(describe() + " needs " + std::to_string(elements_) + " values, but got " +
                           std::to_string(values));
}

Tensor Tensor::stacked(const std::vector<Tensor>& parts) {
  Shape shape{static_cast<std::int64_t>(parts.size())};
  for (const auto dim : parts[0].shape().dims()) shape.push_back(dim);
  Tensor result = allocate(parts[0].dtype(), shape);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor& part = parts[i];
    if (part.shape() != parts[0].shape())
      throw invalid_argument("the rows of a tensor in braces must have one length, but part 0 is " +
                             parts[0].shape().to_string() + " and part " + std::to_string(i) + " is " +
                             part.shape().to_string());
    const auto place = static_cast<std::int64_t>(i) * part.elements();
    if (part.dtype() == DType::string)
      std::ranges::copy(part.values<std::string>(),
                        result.mutable_values<std::string>().begin() + place);
    else if (part.elements() > 0)
      std::memcpy(static_cast<std::byte*>(result.mutable_data()) +
                      place * static_cast<std::int64_t>(size_of(part.dtype())),
                  part.data(), part.size_bytes());
  }
  return result;
}

bool identical(const Tensor& a, const Tensor& b) {
  ACTORFLOW_CHECK(a.on_host() && b.on_host(), a.describe(), b.describe());
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::string)
    return std::ranges::equal(a.values<std::string>(), b.values<std::string>());
  return a.elements() == 0 || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace actorflow
