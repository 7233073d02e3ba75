// Tensors as records; the grammar is at the top of record_codec.h.
#include <bit>

#include "dataflow/values/booleans.h"
#include "dataflow/values/error.h"
#include "dataflow/values/tensor.h"
#include "schema/records/heap_bytes.h"
#include "schema/records/record_codec.h"

namespace actorflow::detail {
namespace {

DType decode_dtype(RecordReader& from) {
  const auto number = static_cast<unsigned>(*take(from, 1, "byte of a dtype"));
  if (number > static_cast<unsigned>(DType::int16))
    throw_bad_record(from, "the number of a dtype in the byte before, of a tensor");
  return static_cast<DType>(number);
}

Shape decode_shape(RecordReader& from) {
  const auto rank = static_cast<int>(*take(from, 1, "byte of a rank"));
  if (rank > Shape::max_rank) throw_bad_record(from, "a rank of at most 8 in the byte before");
  Shape shape;
  for (int axis = 0; axis < rank; ++axis) {
    const auto dim = std::bit_cast<std::int64_t>(decode_size(from));
    if (dim < 0) throw_bad_record(from, "a dimension below 2^63 before");
    shape.push_back(dim);
  }
  return shape;
}

// The bytes of all elements, `element` bytes each.
std::size_t bytes_of(const RecordReader& from, const Shape& shape, std::size_t element) {
  std::size_t bytes = element;
  for (const std::int64_t dim : shape.dims())
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(dim), &bytes) || bytes >> 63 != 0)
      throw_bad_record(from, "a tensor of less than 2^63 bytes before");
  return bytes;
}

Tensor decode_strings(RecordReader& from, const Shape& shape) {
  bytes_of(from, shape, sizeof(std::string));
  const auto count = static_cast<std::size_t>(shape.elements());
  if (count > from.bytes_left()) throw_cut_record(from, count, "texts of a tensor");
  Tensor tensor = Tensor::allocate(DType::string, shape);
  for (auto& text : tensor.mutable_values<std::string>()) text = decode<std::string>(from);
  return tensor;
}

Tensor decode_numbers(RecordReader& from, DType dtype, const Shape& shape) {
  const std::size_t size = bytes_of(from, shape, size_of(dtype));
  const std::byte* bytes = take(from, size, "bytes of a tensor");
  Tensor tensor = Tensor::allocate(dtype, shape);
  if (size > 0) std::memcpy(tensor.mutable_data(), bytes, size);
  if (dtype == DType::boolean && !has_only_booleans(tensor))
    throw_bad_record(from, "0 or 1 in each byte before, a tensor of bool");
  return tensor;
}

}  // namespace

std::size_t OwnCodec<Tensor>::encoded_size(const Tensor& tensor) {
  if (!tensor.valid()) return 1;
  if (!tensor.on_host())
    throw invalid_argument(tensor.describe() + " lives on a GPU: what is in a record is on the host; " +
                           "copy it there first");
  std::size_t bytes = 2;
  for (const std::int64_t dim : tensor.shape().dims())
    bytes += size_bytes(static_cast<std::size_t>(dim));
  if (tensor.dtype() != DType::string) return bytes + tensor.size_bytes();
  for (const auto& text : tensor.values<std::string>()) bytes += actorflow::encoded_size(text);
  return bytes;
}

std::byte* OwnCodec<Tensor>::encode(const Tensor& tensor, std::byte* to) {
  *to++ = static_cast<std::byte>(tensor.dtype());
  if (!tensor.valid()) return to;
  *to++ = static_cast<std::byte>(tensor.shape().rank());
  for (const std::int64_t dim : tensor.shape().dims())
    to = encode_size(static_cast<std::size_t>(dim), to);
  if (tensor.dtype() == DType::string) {
    for (const auto& text : tensor.values<std::string>()) to = actorflow::encode(text, to);
    return to;
  }
  const std::size_t bytes = tensor.size_bytes();
  if (bytes > 0) std::memcpy(to, tensor.data(), bytes);
  return to + bytes;
}

Tensor OwnCodec<Tensor>::decode(RecordReader& from) {
  const DType dtype = decode_dtype(from);
  if (dtype == DType::invalid) return {};
  const Shape shape = decode_shape(from);
  return dtype == DType::string ? decode_strings(from, shape) : decode_numbers(from, dtype, shape);
}

// The whole buffer, though other tensors may share it.
std::size_t OwnCodec<Tensor>::heap_bytes(const Tensor& tensor) {
  if (!tensor.buffer()) return 0;
  std::size_t bytes =
      tensor.buffer()->size_bytes() + buffer_alignment + sizeof(Buffer) + allocation_bytes;
  if (tensor.dtype() == DType::string) bytes += heap_bytes_of_elements(tensor.values<std::string>());
  return bytes;
}

}  // namespace actorflow::detail
