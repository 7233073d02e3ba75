#include "schema/codec/tensor_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "dataflow/values/booleans.h"
#include "dataflow/values/error.h"
#include "schema/codec/transfer.h"

namespace actorflow {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors travel as they lie in memory");

constexpr std::size_t min_referenced_bytes = 16 << 10;
constexpr int max_references = 64;  // of the 512 segments that a reader accepts

using Length = std::uint64_t;  // in front of each string of a transfer

std::size_t packed_bytes(const Tensor& strings) {
  std::size_t bytes = 0;
  for (const auto& text : strings.values<std::string>()) bytes += sizeof(Length) + text.size();
  return bytes;
}

BufferRef pack(const Tensor& strings, std::size_t size_bytes) {
  BufferRef packed = heap().allocate(size_bytes);
  auto* to = static_cast<std::byte*>(packed->data());
  for (const auto& text : strings.values<std::string>()) {
    const Length length = text.size();
    std::memcpy(to, &length, sizeof length);
    std::memcpy(to + sizeof length, text.data(), text.size());
    to += sizeof length + text.size();
  }
  return packed;
}

void unpack(const std::byte* from, std::size_t left, Tensor& strings) {
  for (auto& text : strings.mutable_values<std::string>()) {
    Length length = 0;
    if (left < sizeof length) throw invalid_argument("a transfer of strings ends early");
    std::memcpy(&length, from, sizeof length);
    left -= sizeof length;
    if (left < length) throw invalid_argument("a transfer of strings ends early");
    text.assign(reinterpret_cast<const char*>(from + sizeof length), length);
    from += sizeof length + length;
    left -= length;
  }
  if (left > 0)
    throw invalid_argument("a transfer of strings has " + std::to_string(left) + " bytes too many");
}

std::string describe(DType dtype, const Shape& shape) {
  return std::string(to_string(dtype)) + shape.to_string();
}

std::size_t checked_bytes(DType dtype, const Shape& shape) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.elements(), static_cast<std::int64_t>(size_of(dtype)), &bytes))
    throw invalid_argument(describe(dtype, shape) + " has more than 2^63 bytes");
  return static_cast<std::size_t>(bytes);
}

}  // namespace

BufferRef BufferKeeper::take(const void* begin) {
  const auto found = kept_.find(begin);
  if (found == kept_.end()) return {};
  BufferRef buffer = std::move(found->second);
  kept_.erase(found);
  return buffer;
}

void TensorWriter::write(const Tensor& tensor, wire::Tensor::Builder to) {
  if (!tensor.valid()) return;
  if (!tensor.on_host())
    throw invalid_argument(tensor.describe() + " lives on a GPU; copy it to the host before sending it");
  to.setDtype(static_cast<wire::DType>(tensor.dtype()));
  const auto dims = tensor.shape().dims();
  to.setDims({dims.data(), dims.size()});
  const std::size_t bytes = tensor.dtype() == DType::string ? packed_bytes(tensor) : tensor.size_bytes();
  if (bytes == 0 || (bytes <= limits_.tensor_bytes && bytes <= limits_.message_bytes - inline_bytes_)) {
    inline_bytes_ += bytes;
    write_inline(tensor, to);
  } else if (limits_.transfers) {
    write_transfer(tensor, bytes, to);
  } else {
    throw Error(Code::resource_exhausted, tensor.describe() + " has " + std::to_string(bytes) +
                                              " bytes, but the message has room for " +
                                              std::to_string(limits_.message_bytes - inline_bytes_) +
                                              "; pass a sink for large tensors");
  }
}

void TensorWriter::write_inline(const Tensor& tensor, wire::Tensor::Builder to) {
  if (tensor.dtype() == DType::string) {
    auto list = to.initStrings(static_cast<unsigned>(tensor.elements()));
    unsigned i = 0;
    for (const auto& text : tensor.values<std::string>())
      list.set(i++, {reinterpret_cast<const kj::byte*>(text.data()), text.size()});
    return;
  }
  const std::size_t bytes = tensor.size_bytes();
  const capnp::Data::Reader data(static_cast<const kj::byte*>(tensor.data()), bytes);
  // A segment consists of whole words: where the bytes end within a word, the rest of that word is not
  // ours to send.
  const bool whole_words = bytes % sizeof(capnp::word) == 0;
  if (bytes < min_referenced_bytes || !whole_words || references_ == max_references) {
    to.setData(data);
    return;
  }
  ++references_;
  keeper_.keep(data.begin(), tensor.buffer());
  to.adoptData(orphanage_.referenceExternalData(data));
}

void TensorWriter::write_transfer(const Tensor& tensor, std::size_t size_bytes,
                                  wire::Tensor::Builder to) {
  const bool strings = tensor.dtype() == DType::string;
  transfers_.push_back(
      {next_transfer_++, strings ? pack(tensor, size_bytes) : tensor.buffer(), size_bytes});
  to.setTransfer(transfers_.back().number);
}

Tensor TensorReader::read(wire::Tensor::Reader from) {
  if (from.isTransfer()) {
    Status refusal = transfers_.take_refusal(from.getTransfer());
    if (!refusal.ok()) {
      refusal_ = std::move(refusal);
      return {};
    }
  }
  const DType dtype = read_dtype(from.getDtype());
  if (dtype == DType::invalid) return {};
  const Shape shape = read_dims(from.getDims());
  if (!shape.fully_known())
    throw invalid_argument("a tensor needs a fully known shape, but got " + shape.to_string());
  return dtype == DType::string ? read_strings(shape, from) : read_numbers(dtype, shape, from);
}

Tensor TensorReader::read_strings(const Shape& shape, wire::Tensor::Reader from) {
  const auto expected = static_cast<std::size_t>(shape.elements());
  if (from.isTransfer()) {
    const auto received = transfers_.take(from.getTransfer());
    if (received.size_bytes / sizeof(Length) < expected)
      throw invalid_argument(describe(DType::string, shape) + " cannot be in " +
                             std::to_string(received.size_bytes) + " bytes");
    Tensor tensor = Tensor::allocate(DType::string, shape);
    unpack(static_cast<const std::byte*>(received.bytes->data()), received.size_bytes, tensor);
    return tensor;
  }
  const auto list = from.isStrings() ? from.getStrings() : capnp::List<capnp::Data>::Reader();
  if (list.size() != expected)
    throw invalid_argument(describe(DType::string, shape) + " needs " + std::to_string(expected) +
                           " strings, but " + std::to_string(list.size()) + " came");
  Tensor tensor = Tensor::allocate(DType::string, shape);
  auto to = tensor.mutable_values<std::string>().begin();
  for (const auto text : list) (to++)->assign(reinterpret_cast<const char*>(text.begin()), text.size());
  return tensor;
}

Tensor TensorReader::read_numbers(DType dtype, const Shape& shape, wire::Tensor::Reader from) {
  const std::size_t expected = checked_bytes(dtype, shape);
  const auto check = [&](std::size_t actual) {
    if (actual != expected)
      throw invalid_argument(describe(dtype, shape) + " needs " + std::to_string(expected) +
                             " bytes, but " + std::to_string(actual) + " came");
  };
  Tensor tensor;
  if (from.isTransfer()) {
    auto received = transfers_.take(from.getTransfer());
    check(received.size_bytes);
    tensor = Tensor(dtype, shape, std::move(received.bytes));
  } else {
    const auto data = from.isData() ? from.getData() : capnp::Data::Reader();
    check(data.size());
    tensor = Tensor::allocate(dtype, shape, allocator_);
    if (expected > 0) std::memcpy(tensor.mutable_data(), data.begin(), expected);
  }
  if (dtype == DType::boolean && !has_only_booleans(tensor))
    throw invalid_argument("a tensor of bool has an element that is neither 0 nor 1");
  return tensor;
}

DType read_dtype(wire::DType from) {
  if (from > wire::DType::INT16)
    throw invalid_argument("unknown dtype number " + std::to_string(static_cast<int>(from)));
  return static_cast<DType>(from);
}

Shape read_dims(capnp::List<std::int64_t>::Reader from) {
  Shape shape;
  for (const auto dim : from) shape.push_back(dim);
  return shape;
}

void write_shape(const Shape& shape, wire::Shape::Builder to) {
  const auto dims = shape.dims();
  if (shape.has_rank())
    to.setDims({dims.data(), dims.size()});
  else
    to.setUnknownRank();
}

Shape read_shape(wire::Shape::Reader from) {
  return from.isUnknownRank() ? Shape::unknown_rank() : read_dims(from.getDims());
}

}  // namespace actorflow
