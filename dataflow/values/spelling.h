// Names in messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace actorflow {

// "; did you mean 'x'?" for the nearest of `known` by edit distance, "" if none is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

inline std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace actorflow
