#include "apps/plots/utf8.h"

#include <array>
#include <cstddef>

namespace actorflow {
namespace {

// Of a character that begins with this byte; 0 if none does.
std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}

char32_t value_of(std::string_view bytes) {
  static constexpr std::array<unsigned char, 5> masks = {0, 0x7f, 0x1f, 0x0f, 0x07};
  char32_t value = static_cast<unsigned char>(bytes[0]) & masks[bytes.size()];
  for (const char byte : bytes.substr(1)) value = value << 6 | (static_cast<unsigned char>(byte) & 0x3f);
  return value;
}

bool is_whole(std::string_view bytes, std::size_t length) {
  if (length == 0 || bytes.size() < length) return false;
  for (const char byte : bytes.substr(1, length - 1))
    if ((static_cast<unsigned char>(byte) & 0xc0) != 0x80) return false;
  const char32_t value = value_of(bytes.substr(0, length));
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  return !surrogate && !overlong && value < 0x110000;
}

}  // namespace

Utf8Character take_character(std::string_view& text) {
  const std::size_t length = length_of(static_cast<unsigned char>(text[0]));
  const bool whole = is_whole(text, length);
  const std::string_view bytes = text.substr(0, whole ? length : 1);
  text.remove_prefix(bytes.size());
  if (!whole) return {0xfffd, "\xef\xbf\xbd"};
  return {value_of(bytes), bytes};
}

}  // namespace actorflow
