#include "dataflow/graph/tensor_types.h"

#include <charconv>

#include "dataflow/values/joined.h"

namespace actorflow {
namespace {

Error no_type(std::string_view word) {
  return invalid_argument("expected a tensor type such as float32[28,?], got '" + std::string(word) +
                          "'");
}

std::int64_t parse_dim(std::string_view text, std::string_view word) {
  if (text == "?") return Shape::unknown;
  std::int64_t dim = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
  if (error != std::errc() || end != text.data() + text.size() || dim < 0) throw no_type(word);
  return dim;
}

Shape parse_dims(std::string_view text, std::string_view word) {
  Shape shape;
  while (!text.empty()) {
    const auto comma = text.find(',');
    shape.push_back(parse_dim(text.substr(0, comma), word));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) throw no_type(word);
  }
  return shape;
}

TensorType parse_type(std::string_view word) {
  if (const auto angle = word.find('<'); angle != std::string_view::npos) {
    const TensorType type{parse_dtype(word.substr(0, angle)), Shape::unknown_rank()};
    if (word.substr(angle) != type.shape.to_string()) throw no_type(word);
    return type;
  }
  const auto bracket = word.find('[');
  if (bracket == std::string_view::npos || word.back() != ']') throw no_type(word);
  const auto dims = word.substr(bracket + 1, word.size() - bracket - 2);
  return {parse_dtype(word.substr(0, bracket)), parse_dims(dims, word)};
}

}  // namespace

std::string to_string(std::span<const TensorType> types) {
  return joined(types, " ", &TensorType::to_string);
}

std::vector<TensorType> parse_tensor_types(std::string_view text) {
  std::vector<TensorType> types;
  while (true) {
    const auto begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return types;
    text.remove_prefix(begin);
    const auto word = text.substr(0, text.find(' '));
    types.push_back(parse_type(word));
    text.remove_prefix(word.size());
  }
}

std::vector<TensorType> types_of(std::span<const Tensor> tuple) {
  std::vector<TensorType> types;
  for (const Tensor& tensor : tuple) types.push_back({tensor.dtype(), tensor.shape()});
  return types;
}

std::string describe(std::span<const Tensor> tuple) { return joined(tuple, " ", &Tensor::describe); }

bool fits(std::span<const Tensor> tuple, std::span<const TensorType> types) {
  if (tuple.size() != types.size()) return false;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (tuple[i].dtype() != types[i].dtype || !types[i].shape.compatible_with(tuple[i].shape()))
      return false;
  return true;
}

}  // namespace actorflow
