#include "schema/records/excerpt.h"

#include <cstdint>

namespace actorflow {
namespace {

// Bytes of the character with which the text begins: 0 if that is no UTF-8, or a control character.
std::size_t shown_bytes(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return first >= ' ' && first != 0x7f ? 1 : 0;
  const std::size_t count = first < 0xc2   ? 0
                            : first < 0xe0 ? 2
                            : first < 0xf0 ? 3
                            : first < 0xf5 ? 4
                                           : 0;
  if (count == 0 || count > text.size()) return 0;
  std::uint32_t code = first & (0xffU >> (count + 1));
  for (std::size_t i = 1; i < count; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};  // below 0xa0: more control characters
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code >= least[count] && code < 0x110000 && !is_surrogate ? count : 0;
}

std::string escaped(std::uint8_t byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  return {'\\', 'x', digits[byte >> 4U], digits[byte & 0xfU]};
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t most_bytes) {
  std::string shown;
  std::size_t at = 0;
  while (at < text.size() && at < most_bytes) {
    if (const std::size_t bytes = shown_bytes(text.substr(at)); bytes > 0) {
      shown += text.substr(at, bytes);
      at += bytes;
    } else {
      shown += escaped(static_cast<std::uint8_t>(text[at++]));
    }
  }
  return at < text.size() ? shown + "..." : shown;
}

}  // namespace actorflow
