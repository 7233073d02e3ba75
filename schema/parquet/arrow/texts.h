// Dates and decimals as texts. For this folder only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace actorflow {

__extension__ using Digits = __int128;  // a decimal of up to 38 digits, without its point

using TextRoom = std::array<char, 48>;

// A number in the two's complement, its most significant byte first. Throws data_loss for one of more
// than 16 bytes, unless those before the last 16 only repeat its sign.
Digits digits_of(const std::uint8_t* bytes, std::size_t count);
// "-0.05" for -5 with a scale of 2.
std::string_view decimal_text(Digits digits, int scale, TextRoom& room);
// "1998-09-02"; as ISO 8601 has it, "-0044-03-15", and "+12345-01-01", for years that have not 4 digits.
std::string_view date_text(std::int64_t days_since_1970, TextRoom& room);

}  // namespace actorflow
