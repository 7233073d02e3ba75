#include "actors/checkpoint/files/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstring>
#include <string_view>

#include "dataflow/values/check.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return "F32";
    case DType::float64:
      return "F64";
    case DType::int32:
      return "I32";
    case DType::int64:
      return "I64";
    case DType::boolean:
      return "BOOL";
    case DType::float16:
      return "F16";
    case DType::bfloat16:
      return "BF16";
    case DType::int8:
      return "I8";
    case DType::int16:
      return "I16";
    default:
      return "U8";
  }
}

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (quoted += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      quoted += c;
  }
  return quoted + "\"";
}

void append(std::vector<std::byte>& to, const void* bytes, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(bytes);
  to.insert(to.end(), first, first + size);
}

std::vector<std::byte> pack_strings(const Tensor& tensor) {
  std::vector<std::byte> packed;
  for (const auto& text : tensor.values<std::string>()) {
    const std::uint64_t size = text.size();
    append(packed, &size, sizeof size);
    append(packed, text.data(), text.size());
  }
  return packed;
}

Tensor unpack_strings(const Shape& shape, std::span<const std::byte> bytes) {
  const auto count = static_cast<std::uint64_t>(shape.elements());
  if (count > bytes.size() / sizeof(std::uint64_t))
    throw Error(Code::data_loss,
                fmt::format("{} strings do not fit into {} bytes", count, bytes.size()));
  Tensor tensor = Tensor::allocate(DType::string, shape);
  for (auto& text : tensor.mutable_values<std::string>()) {
    std::uint64_t size = 0;
    if (bytes.size() < sizeof size) throw Error(Code::data_loss, "the bytes end within a string");
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes = bytes.subspan(sizeof size);
    if (size > bytes.size()) throw Error(Code::data_loss, "the bytes end within a string");
    text.assign(reinterpret_cast<const char*>(bytes.data()), size);
    bytes = bytes.subspan(size);
  }
  if (!bytes.empty()) throw Error(Code::data_loss, "bytes follow the last string");
  return tensor;
}

std::string entry_json(const SafetensorsFile::Entry& entry) {
  const bool is_packed = entry.tensor.dtype() == DType::string;
  const std::string dims = is_packed ? std::to_string(entry.bytes.size())
                                     : fmt::format("{}", fmt::join(entry.tensor.shape().dims(), ","));
  return fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                     json_string(entry.name), type_name(entry.tensor.dtype()), dims, entry.offset,
                     entry.offset + entry.bytes.size());
}

std::string metadata_json(const std::map<std::string, std::string>& metadata) {
  std::string json;
  for (const auto& [key, value] : metadata)
    json += (json.empty() ? "" : ",") + json_string(key) + ":" + json_string(value);
  return R"("__metadata__":{)" + json + "}";
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::map<std::string, Tensor>& tensors,
                                 const std::map<std::string, std::string>& metadata) {
  constexpr std::size_t alignment = 8;
  std::string json = "{" + metadata_json(metadata);
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    ACTORFLOW_CHECK(tensor.valid() && tensor.on_host(), name, "is", tensor.describe());
    std::span<const std::byte> bytes(static_cast<const std::byte*>(tensor.data()), 0);
    if (tensor.dtype() == DType::string)
      bytes = packed_.emplace_back(pack_strings(tensor));
    else
      bytes = {bytes.data(), tensor.size_bytes()};
    entries_.push_back({name, tensor, offset, bytes});
    json += "," + entry_json(entries_.back());
    offset += bytes.size();
  }
  json += "}";
  json.resize((json.size() + alignment - 1) / alignment * alignment, ' ');
  const std::uint64_t length = json.size();
  header_.assign(reinterpret_cast<const char*>(&length), sizeof length);
  header_ += json;
  for (auto& entry : entries_) entry.offset += header_.size();
  size_bytes_ = header_.size() + offset;
}

void SafetensorsFile::release(std::size_t entry) {
  entries_[entry].tensor = {};
  entries_[entry].bytes = {};
}

Tensor unpack_tensor(DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
  if (dtype == DType::string) return unpack_strings(shape, bytes);
  const auto elements = static_cast<std::uint64_t>(shape.elements());
  const auto size = size_of(dtype);
  if (size == 0 || elements > bytes.size() / size || elements * size != bytes.size())
    throw Error(Code::data_loss, fmt::format("expected {} elements of {}, but there are {} bytes",
                                             elements, std::string(to_string(dtype)), bytes.size()));
  Tensor tensor = Tensor::allocate(dtype, shape);
  if (!bytes.empty()) std::memcpy(tensor.mutable_data(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace actorflow
