// Texts of users in messages, which end on terminals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace actorflow {

// The text, which may be any bytes, as a terminal can show it: UTF-8 stays, other bytes and control
// characters become "\x1b". Of a longer one about `most_bytes`, and "...".
std::string excerpt(std::string_view text, std::size_t most_bytes = 80);

}  // namespace actorflow
