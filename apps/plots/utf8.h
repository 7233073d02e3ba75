// UTF-8, character by character.
#pragma once

#include <string_view>

namespace actorflow {

struct Utf8Character {
  char32_t value = 0;
  std::string_view bytes;
};

// Removes the first character. A byte that begins none is one, and stands for U+FFFD. REQUIRES: the text
// is not empty.
Utf8Character take_character(std::string_view& text);

}  // namespace actorflow
