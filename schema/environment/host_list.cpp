#include "schema/environment/host_list.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::size_t most_hosts = 100'000;
// In one name: racks, chassis and nodes take three.
constexpr std::ptrdiff_t most_brackets = 16;
constexpr std::size_t most_shown = 200;

std::string shown(std::string_view text) {
  return "'" + std::string(text.substr(0, most_shown)) + (text.size() > most_shown ? "...'" : "'");
}

[[noreturn]] void complain(std::string_view list) {
  throw invalid_argument(shown(list) + " is no list of hosts");
}

void expect_few_brackets(std::string_view entry) {
  if (const auto brackets = std::ranges::count(entry, '['); brackets > most_brackets)
    throw invalid_argument("a list of hosts: expected at most " + std::to_string(most_brackets) +
                           " brackets in a name, got " + std::to_string(brackets) + " in " +
                           shown(entry));
}

// The text up to a comma that is in no bracket; cuts it off the front.
std::string_view take_entry(std::string_view& text) {
  bool in_bracket = false;
  std::size_t end = 0;
  for (; end < text.size() && (in_bracket || text[end] != ','); ++end)
    if (text[end] == '[' || text[end] == ']') in_bracket = text[end] == '[';
  const std::string_view entry = text.substr(0, end);
  text.remove_prefix(end < text.size() ? end + 1 : end);
  return entry;
}

std::size_t number_in(std::string_view list, std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) complain(list);
  return number;
}

// Adds the numbers of "07" or "07-12", with as many digits as the first one has; `most` in all.
void add_numbers(std::string_view list, std::string_view range, std::size_t most,
                 std::vector<std::string>& numbers) {
  const std::string_view first = range.substr(0, range.find('-'));
  const std::size_t begin = number_in(list, first);
  const std::size_t last =
      first.size() == range.size() ? begin : number_in(list, range.substr(first.size() + 1));
  if (last < begin || last - begin >= most - numbers.size()) complain(list);
  const std::size_t count = last - begin + 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::string digits = std::to_string(begin + i);
    if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
    numbers.push_back(std::move(digits));
  }
}

// Adds the hosts of an entry, whose first bracket stands for several numbers; `most` at most.
void add_hosts(std::string_view list, std::string_view entry, const std::string& before,
               std::size_t most, std::vector<std::string>& hosts) {
  const std::size_t begin = entry.find('['), end = entry.find(']');
  if (begin == entry.npos && end == entry.npos) {
    if (before.empty() && entry.empty()) complain(list);
    hosts.push_back(before + std::string(entry));
    if (hosts.size() > most_hosts) complain(list);
    return;
  }
  if (begin == entry.npos || end == entry.npos || end < begin) complain(list);
  std::string_view ranges = entry.substr(begin + 1, end - begin - 1);
  std::vector<std::string> numbers;
  do add_numbers(list, take_entry(ranges), most, numbers);
  while (!ranges.empty());
  for (const auto& number : numbers)
    add_hosts(list, entry.substr(end + 1), before + std::string(entry.substr(0, begin)) + number,
              most / numbers.size(), hosts);
}

}  // namespace

std::vector<std::string> all_hosts(std::string_view list) {
  if (list.empty() || list.ends_with(',')) complain(list);
  std::vector<std::string> hosts;
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view entry = take_entry(rest);
    expect_few_brackets(entry);
    add_hosts(list, entry, "", most_hosts, hosts);
  }
  return hosts;
}

// A bracket stands for its first number, with the digits as they are written there.
std::string first_host(std::string_view list) {
  std::string host;
  bool in_bracket = false, taken = false;
  for (const char c : list) {
    if (c == ',' && !in_bracket) break;
    if (c == '[' || c == ']') {
      if ((c == '[') == in_bracket) complain(list);
      in_bracket = c == '[';
      taken = false;
    } else if (in_bracket && (c == '-' || c == ',')) {
      taken = true;
    } else if (!taken) {
      host += c;
    }
  }
  if (host.empty() || in_bracket) complain(list);
  return host;
}

}  // namespace actorflow
