#include "schema/formats/array_header.h"

#include <array>

#include "schema/formats/header_bytes.h"

namespace actorflow {
namespace {

constexpr std::byte unsigned_bytes{0x08};

Shape whole_shape(const ArrayHeader& header) {
  Shape all;
  all.push_back(header.rows);
  for (const auto dim : header.row_shape.dims()) all.push_back(dim);
  return all;
}

// Where it overflows, Shape throws, or this does.
std::uint64_t bytes_of(const Shape& shape, std::size_t element_bytes) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(shape.elements(), element_bytes, &bytes))
    throw invalid_argument("too large");
  return bytes;
}

}  // namespace

void read_header_part(ByteSource& source, std::span<std::byte> part, const char* what,
                      ArrayHeader& header) {
  const std::size_t got = source.read(part);
  header.header_bytes += got;
  if (got < part.size())
    throw damaged_file(source, std::string("expected ") + what + " header, but the file ends after " +
                                   std::to_string(header.header_bytes) + " bytes");
}

void check_array_size(ByteSource& source, std::size_t element_bytes, ArrayHeader& header) {
  const Shape all = whole_shape(header);
  std::uint64_t bytes = 0;
  try {
    bytes = bytes_of(all, element_bytes);
    header.row_bytes = bytes_of(header.row_shape, element_bytes);
  } catch (const Error&) {
    throw damaged_file(source, "the header announces the impossible shape " + all.to_string());
  }
  if (header.rows > 0 && header.row_bytes == 0)
    throw damaged_file(source, "the header announces " + std::to_string(header.rows) +
                                   " elements without bytes, in the shape " + all.to_string());
  if (const auto most = source.most_bytes_left(); bytes > most)
    throw damaged_file(source, "expected " + std::to_string(bytes) + " bytes for the shape " +
                                   all.to_string() + ", but the file can hold " + std::to_string(most) +
                                   " at most; it is truncated or its header is wrong");
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    const auto value = static_cast<unsigned>(byte);
    text += {' ', digits[value >> 4], digits[value & 15]};
  }
  return text;
}

FixedRecords row_records(const ArrayHeader& header) {
  return {.record_bytes = header.rows == 0 ? 1 : header.row_bytes,
          .header_bytes = header.header_bytes,
          .count = static_cast<std::uint64_t>(header.rows)};
}

ArrayHeader read_idx_header(ByteSource& source) {
  ArrayHeader header;
  header.element = "uint8";
  std::array<std::byte, 4> word{};
  read_header_part(source, word, "an IDX", header);
  const auto rank = static_cast<int>(word[3]);
  if (word[0] != std::byte{0} || word[1] != std::byte{0} || word[2] != unsigned_bytes || rank == 0 ||
      rank > Shape::max_rank)
    throw damaged_file(
        source,
        "expected an IDX file of unsigned bytes, which begins with 00 00 08 and the number of "
        "dimensions (1 to " +
            std::to_string(Shape::max_rank) + "), but it begins with" + hexadecimal(word));
  for (int axis = 0; axis < rank; ++axis) {
    read_header_part(source, word, "an IDX", header);
    std::int64_t size = 0;
    for (const auto byte : word) size = size << 8 | static_cast<std::int64_t>(byte);
    if (axis == 0)
      header.rows = size;
    else
      header.row_shape.push_back(size);
  }
  check_array_size(source, 1, header);
  return header;
}

}  // namespace actorflow
