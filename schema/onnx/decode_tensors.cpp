#include "schema/onnx/decode_tensors.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "dataflow/values/booleans.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The elements of a shape; all sizes of a tensor in memory fit into the result.
std::int64_t elements_of(const onnx::TensorProto& in) {
  if (in.dims_size() > Shape::max_rank)
    throw Error(Code::unimplemented, "the tensor '" + in.name() + "' has " +
                                         std::to_string(in.dims_size()) + " dimensions; at most " +
                                         std::to_string(Shape::max_rank) + " are there");
  constexpr std::int64_t most = std::int64_t{1} << 40;
  std::int64_t elements = 1;
  for (const std::int64_t dim : in.dims()) {
    if (dim < 0 || dim > most || (dim > 0 && elements > most / dim))
      damaged_onnx("the tensor '" + in.name() + "' has a dimension of " + std::to_string(dim));
    elements *= dim;
  }
  return elements;
}

std::uint64_t number_of(const std::string& text, const std::string& tensor) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    damaged_onnx("the place of the tensor '" + tensor + "' in a file of weights is '" + text + "'");
  return number;
}

void expect_bytes(const onnx::TensorProto& in, std::uint64_t actual, std::uint64_t expected) {
  if (actual != expected)
    damaged_onnx("the tensor '" + in.name() + "' has " + std::to_string(actual) +
                 " bytes; its type and shape want " + std::to_string(expected));
}

// A name without a folder.
bool is_plain(const std::string& file) {
  return !file.empty() && file != "." && file != ".." && file.find('/') == std::string::npos &&
         file.find('\0') == std::string::npos;
}

template <class T, class Field>
void copy_field(const onnx::TensorProto& in, const Field& field, Tensor& tensor) {
  const auto into = tensor.mutable_values<T>();
  expect_bytes(in, static_cast<std::uint64_t>(field.size()) * sizeof(T), tensor.size_bytes());
  std::ranges::transform(field, into.begin(), [](const auto& value) { return static_cast<T>(value); });
}

// The bits of a floating-point number of 16 bits in an integer each.
void copy_bits(const onnx::TensorProto& in, Tensor& tensor) {
  const auto& field = in.int32_data();
  expect_bytes(in, static_cast<std::uint64_t>(field.size()) * sizeof(std::uint16_t),
               tensor.size_bytes());
  auto* to = static_cast<std::uint16_t*>(tensor.mutable_data());
  for (const std::int32_t bits : field) *to++ = static_cast<std::uint16_t>(bits);
}

void copy_elements(const onnx::TensorProto& in, Tensor& tensor) {
  if (tensor.dtype() == DType::string) {
    if (in.string_data_size() != tensor.elements())
      damaged_onnx("the tensor '" + in.name() + "' has " + std::to_string(in.string_data_size()) +
                   " texts of " + std::to_string(tensor.elements()));
    std::ranges::copy(in.string_data(), tensor.mutable_values<std::string>().begin());
    return;
  }
  if (!in.raw_data().empty() || tensor.elements() == 0) {
    expect_bytes(in, in.raw_data().size(), tensor.size_bytes());
    if (tensor.size_bytes() > 0)
      std::memcpy(tensor.mutable_data(), in.raw_data().data(), tensor.size_bytes());
    return;
  }
  switch (tensor.dtype()) {
    case DType::float32:
      return copy_field<float>(in, in.float_data(), tensor);
    case DType::float64:
      return copy_field<double>(in, in.double_data(), tensor);
    case DType::int64:
      return copy_field<std::int64_t>(in, in.int64_data(), tensor);
    case DType::int32:
      return copy_field<std::int32_t>(in, in.int32_data(), tensor);
    case DType::uint8:
      return copy_field<std::uint8_t>(in, in.int32_data(), tensor);
    case DType::int8:
      return copy_field<std::int8_t>(in, in.int32_data(), tensor);
    case DType::int16:
      return copy_field<std::int16_t>(in, in.int32_data(), tensor);
    case DType::float16:
    case DType::bfloat16:
      return copy_bits(in, tensor);
    default:
      return copy_field<bool>(in, in.int32_data(), tensor);
  }
}

void expect_booleans(const onnx::TensorProto& in, const Tensor& tensor) {
  if (!has_only_booleans(tensor))
    damaged_onnx("the tensor '" + in.name() + "' of bool has an element that is neither 0 nor 1");
}

// No more memory is taken than there are bytes in the file.
void expect_room(const onnx::TensorProto& in, std::int64_t elements) {
  const auto most = static_cast<std::int64_t>(in.raw_data().size()) + in.float_data_size() +
                    in.int32_data_size() + in.int64_data_size() + in.double_data_size() +
                    in.string_data_size();
  if (elements > most)
    damaged_onnx("the tensor '" + in.name() + "' has " + std::to_string(elements) +
                 " elements, but fewer bytes");
}

}  // namespace

void damaged_onnx(const std::string& what) {
  throw Error(Code::data_loss, "this is no whole ONNX model: " + what);
}

Tensor OnnxTensors::decode(const onnx::TensorProto& in) {
  const DType dtype = onnx_dtype(in.data_type());
  if (dtype == DType::invalid)
    throw Error(Code::unimplemented, "the tensor '" + in.name() + "' is of ONNX's type " +
                                         std::to_string(in.data_type()) + ", which is not there");
  const std::int64_t elements = elements_of(in);
  const Shape shape(std::vector<std::int64_t>(in.dims().begin(), in.dims().end()));
  Tensor tensor;
  if (in.data_location() == onnx::TensorProto::EXTERNAL && dtype != DType::string) {
    tensor = decode_external(in, dtype, shape);
  } else {
    expect_room(in, elements);
    tensor = Tensor::allocate(dtype, shape);
    copy_elements(in, tensor);
  }
  if (dtype == DType::boolean) expect_booleans(in, tensor);
  return tensor;
}

Tensor OnnxTensors::decode_external(const onnx::TensorProto& in, DType dtype, const Shape& shape) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(shape.elements()) * size_of(dtype);
  const Place place = place_of(in, bytes);
  Tensor& known = external_[place];
  if (known.valid() && known.dtype() == dtype) return known.reshaped(shape);
  take(place);
  known = Tensor::allocate(dtype, shape);
  weights_.read(std::get<0>(place), std::get<1>(place),
                {static_cast<std::byte*>(known.mutable_data()), known.size_bytes()});
  return known;
}

// Checked before memory is taken for it.
OnnxTensors::Place OnnxTensors::place_of(const onnx::TensorProto& in, std::uint64_t bytes) {
  std::string file;
  std::uint64_t offset = 0, length = bytes;
  for (const auto& entry : in.external_data()) {
    if (entry.key() == "location") file = entry.value();
    if (entry.key() == "offset") offset = number_of(entry.value(), in.name());
    if (entry.key() == "length") length = number_of(entry.value(), in.name());
  }
  if (!is_plain(file)) damaged_onnx("the tensor '" + in.name() + "' is in the file '" + file + "'");
  expect_bytes(in, length, bytes);
  const auto [known, is_new] = files_.try_emplace(file);
  if (is_new) known->second.size_bytes = weights_.size_bytes(file);
  const std::uint64_t size = known->second.size_bytes;
  if (offset > size || length > size - offset)
    damaged_onnx("the tensor '" + in.name() + "' has " + std::to_string(length) + " bytes from " +
                 std::to_string(offset) + " on of the file '" + file + "', which has " +
                 std::to_string(size));
  return {file, offset, length};
}

// A small model could name the bytes of one file again and again.
void OnnxTensors::take(const Place& place) {
  const auto& [name, offset, bytes] = place;
  File& file = files_[name];
  file.taken_bytes += bytes;
  if (file.taken_bytes > file.size_bytes)
    damaged_onnx("its tensors overlap in the file '" + name +
                 "': together they have more bytes than it");
}

}  // namespace actorflow
