// Texts one after the other, for messages and lines. What fmt::join does, for the folders without fmt
// and for members of the items.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace actorflow {

// text_of(item) for each item, with the separator between any two. text_of is a function or the address
// of a member, and gives something that can be appended to a string.
template <class Items, class TextOf = std::identity>
std::string joined(const Items& items, std::string_view separator, const TextOf& text_of = {}) {
  std::string all;
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) all += separator;
    is_first = false;
    all += std::invoke(text_of, item);
  }
  return all;
}

}  // namespace actorflow
