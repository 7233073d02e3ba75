#include "actors/named/message_mark.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace actorflow {
namespace {

constexpr std::array<std::string_view, 5> kinds{"tell", "ask", "reply", "done", "probe"};

}  // namespace

std::string MessageMark::to_string() const {
  return fmt::format("{}/{} {}", kinds[static_cast<std::size_t>(kind)], stream, type);
}

std::optional<MessageMark> MessageMark::parse(std::string_view text) {
  const auto slash = text.find('/'), blank = text.find(' ');
  if (slash == text.npos || blank == text.npos || blank < slash) return {};
  const auto kind = std::ranges::find(kinds, text.substr(0, slash));
  if (kind == kinds.end()) return {};
  MessageMark mark{static_cast<Kind>(kind - kinds.begin()), 0, std::string(text.substr(blank + 1))};
  const auto [end, error] = std::from_chars(text.data() + slash + 1, text.data() + blank, mark.stream);
  if (error != std::errc() || end != text.data() + blank) return {};
  return mark;
}

}  // namespace actorflow
