#include "schema/parquet/arrow/texts.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

__extension__ using Magnitude = unsigned __int128;

// Days of years that std::chrono counts.
constexpr std::int64_t most_days = 11'000'000;

}  // namespace

Digits digits_of(const std::uint8_t* bytes, std::size_t count) {
  const bool is_negative = count > 0 && bytes[0] >= 0x80;
  const std::size_t more = count > sizeof(Digits) ? count - sizeof(Digits) : 0;
  // Bytes before those repeat the sign.
  const std::uint8_t sign = is_negative ? 0xff : 0;
  const bool fits = std::all_of(bytes, bytes + more, [&](auto byte) { return byte == sign; }) &&
                    (more == 0 || (bytes[more] >= 0x80) == is_negative);
  if (!fits)
    throw Error(Code::data_loss, "expected a decimal of at most 38 digits, got more in " +
                                     std::to_string(count) + " bytes");
  Magnitude number = is_negative ? ~Magnitude{0} : 0;
  for (std::size_t i = more; i < count; ++i) number = number << 8 | bytes[i];
  return static_cast<Digits>(number);
}

std::string_view decimal_text(Digits digits, int scale, TextRoom& room) {
  const bool is_negative = digits < 0;
  Magnitude rest = is_negative ? -static_cast<Magnitude>(digits) : static_cast<Magnitude>(digits);
  std::size_t begin = room.size();
  for (int place = 0; rest != 0 || place <= scale; ++place) {
    if (place == scale && scale > 0) room[--begin] = '.';
    room[--begin] = static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  }
  if (is_negative) room[--begin] = '-';
  return {room.data() + begin, room.size() - begin};
}

std::string_view date_text(std::int64_t days_since_1970, TextRoom& room) {
  if (days_since_1970 > most_days || days_since_1970 < -most_days)
    throw Error(Code::data_loss, "expected a date of the years -28147 to 32086, got day " +
                                     std::to_string(days_since_1970) + " since 1970");
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(days_since_1970)))};
  const int year = static_cast<int>(date.year());
  const int size =
      std::snprintf(room.data(), room.size(),
                    year < 0      ? "%05d-%02u-%02u"
                    : year > 9999 ? "+%d-%02u-%02u"
                                  : "%04d-%02u-%02u",
                    year, static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return {room.data(), static_cast<std::size_t>(size)};
}

}  // namespace actorflow
