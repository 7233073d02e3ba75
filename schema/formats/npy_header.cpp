#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "schema/formats/header_bytes.h"

namespace actorflow {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view magic = "\x93NUMPY"sv;
constexpr std::size_t max_dictionary_bytes = 1 << 16;

struct NpyElement {
  std::string_view descr;
  const char* name;
  std::size_t bytes;
};
constexpr NpyElement elements[] = {{"|b1", "bool", 1},    {"|i1", "int8", 1},    {"<i2", "int16", 2},
                                   {"<i4", "int32", 4},   {"<i8", "int64", 8},   {"|u1", "uint8", 1},
                                   {"<u2", "uint16", 2},  {"<u4", "uint32", 4},  {"<u8", "uint64", 8},
                                   {"<f2", "float16", 2}, {"<f4", "float32", 4}, {"<f8", "float64", 8}};

// The text behind "'key': ", or nothing.
std::string_view value_of(std::string_view dictionary, const std::string& key) {
  const std::string quoted = "'" + key + "':";
  const std::size_t begin = dictionary.find(quoted);
  if (begin == std::string_view::npos) return {};
  const std::size_t value = dictionary.find_first_not_of(' ', begin + quoted.size());
  return value == std::string_view::npos ? std::string_view() : dictionary.substr(value);
}

// The numbers of "(3, 4)" or "(3,)"; nothing if that is no tuple of at least one.
std::optional<std::vector<std::int64_t>> numbers_of(std::string_view tuple) {
  std::vector<std::int64_t> numbers;
  if (!tuple.starts_with('(')) return std::nullopt;
  do {
    tuple.remove_prefix(1);
    tuple.remove_prefix(std::min(tuple.find_first_not_of(' '), tuple.size()));
    if (tuple.starts_with(')')) break;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(tuple.data(), tuple.data() + tuple.size(), number);
    if (error != std::errc() || number < 0) return std::nullopt;
    tuple.remove_prefix(static_cast<std::size_t>(end - tuple.data()));
    numbers.push_back(number);
  } while (tuple.starts_with(','));
  if (!tuple.starts_with(')') || numbers.empty() || numbers.size() > Shape::max_rank)
    return std::nullopt;
  return numbers;
}

std::string read_dictionary(ByteSource& source, ArrayHeader& header) {
  std::array<std::byte, 8> beginning{};
  read_header_part(source, beginning, "an .npy", header);
  const auto major = static_cast<int>(beginning[6]);
  if (!std::ranges::equal(std::span(beginning).first(magic.size()), std::as_bytes(std::span(magic))) ||
      major < 1 || major > 3)
    throw damaged_file(
        source,
        "expected an .npy file, which begins with 93 4e 55 4d 50 59 and a version of 1 to "
        "3, but it begins with" +
            hexadecimal(beginning));
  std::array<std::byte, 4> size_bytes{};
  read_header_part(source, std::span(size_bytes).first(major == 1 ? 2 : 4), "an .npy", header);
  std::size_t size = 0;
  for (std::size_t i = 0; i < size_bytes.size(); ++i)
    size |= static_cast<std::size_t>(size_bytes[i]) << (8 * i);
  if (size > max_dictionary_bytes)
    throw damaged_file(source, "expected an .npy header of at most " +
                                   std::to_string(max_dictionary_bytes) + " bytes, but it announces " +
                                   std::to_string(size));
  std::string dictionary(size, '\0');
  read_header_part(source, std::as_writable_bytes(std::span(dictionary)), "an .npy", header);
  return dictionary;
}

}  // namespace

ArrayHeader read_npy_header(ByteSource& source) {
  ArrayHeader header;
  const std::string dictionary = read_dictionary(source, header);
  const std::string_view descr = value_of(dictionary, "descr");
  const auto* element = std::ranges::find_if(elements, [&](const NpyElement& known) {
    return descr.starts_with("'" + std::string(known.descr) + "'");
  });
  if (descr.starts_with("'|V2'") || descr.starts_with("'<V2'"))
    throw damaged_file(source,
                       "expected numbers that numpy knows, but the header says 'descr': '|V2', as it "
                       "does of bfloat16; save the array as float32 or float16");
  if (element == std::end(elements))
    throw damaged_file(
        source,
        "expected little-endian numbers or bools ('<f4', '<i8', '|u1' and so on), but the "
        "header says 'descr': " +
            std::string(descr.substr(0, 20)));
  const auto dims = numbers_of(value_of(dictionary, "shape"));
  if (!dims || !value_of(dictionary, "fortran_order").starts_with("False"))
    throw damaged_file(source, "expected 'fortran_order': False and a 'shape' of 1 to " +
                                   std::to_string(Shape::max_rank) + " dimensions, but the header is " +
                                   dictionary.substr(0, 200));
  header.element = element->name;
  header.rows = dims->front();
  for (std::size_t i = 1; i < dims->size(); ++i) header.row_shape.push_back((*dims)[i]);
  check_array_size(source, element->bytes, header);
  return header;
}

}  // namespace actorflow
