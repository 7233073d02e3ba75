#include "apps/launch/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "dataflow/values/error.h"
#include "schema/records/excerpt.h"
#include "schema/text_file.h"

namespace actorflow {
namespace {

constexpr std::string_view form = "host, user@host, host:slots or [ipv6]:slots";
constexpr std::string_view spaces = " \t\r";
constexpr int most_slots = 100'000;
constexpr std::size_t most_name_bytes = 255, most_quoted_bytes = 100;

// What a script prints by mistake may be long, and change the colours of a terminal.
[[noreturn]] void complain(std::string_view where, std::string_view got, std::string_view expected) {
  const std::string_view quoted = got.substr(0, most_quoted_bytes);
  const std::size_t rest = got.size() - quoted.size();
  throw invalid_argument(fmt::format("{}: expected {}, got '{}'{}", where, expected,
                                     excerpt(quoted, most_quoted_bytes),
                                     rest > 0 ? fmt::format(" and {} more bytes", rest) : ""));
}

int slots_in(std::string_view where, std::string_view text) {
  int slots = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
  if (error != std::errc() || end != text.data() + text.size() || slots < 1 || slots > most_slots)
    complain(where, text, fmt::format("a number of slots from 1 to {}", most_slots));
  return slots;
}

// ssh takes a name that begins with '-' for an option. Names are shown as they are.
bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= most_name_bytes && name[0] != '-' &&
         std::ranges::all_of(name, allowed);
}

bool is_ipv6(std::string_view name) {
  const std::string_view address = name.substr(0, name.find('%'));
  const std::string_view interface = name.substr(std::min(address.size() + 1, name.size()));
  return address.find(':') != name.npos && name.size() <= most_name_bytes &&
         address.find_first_not_of("0123456789abcdefABCDEF:.") == name.npos &&
         std::ranges::all_of(interface, [](char c) { return c > ' ' && c < '\x7f'; });
}

// Cuts the user off the front.
std::string take_user(std::string_view where, std::string_view& text) {
  const auto at = text.find('@');
  if (at == text.npos) return {};
  const std::string user(text.substr(0, at));
  if (!is_name(user)) complain(where, user, "a user's name before '@'");
  text.remove_prefix(at + 1);
  return user;
}

LaunchHost host_in(std::string_view where, std::string_view text) {
  LaunchHost host;
  const std::string_view whole = text;
  host.user = take_user(where, text);
  std::string_view slots;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == text.npos || !is_ipv6(text.substr(1, end - 1))) complain(where, whole, form);
    host.name = text.substr(1, end - 1);
    slots = text.substr(end + 1);
  } else {
    const auto colon = text.find(':');
    host.name = text.substr(0, colon);
    if (colon != text.npos) slots = text.substr(colon);
    if (slots.find(':', 1) != slots.npos)
      complain(where, whole, "an IPv6 address in brackets, such as [fe80::1]:4");
    if (!is_name(host.name)) complain(where, whole, form);
  }
  if (!slots.empty() && slots[0] != ':') complain(where, whole, form);
  if (!slots.empty()) host.slots = slots_in(where, slots.substr(1));
  return host;
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  return text.substr(0, text.find_last_not_of(spaces) + 1);
}

// The part up to the separator, which is cut off the front.
std::string_view take_part(std::string_view& text, std::string_view separators) {
  const auto end = std::min(text.find_first_of(separators), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// Nothing for blank and comment lines.
std::optional<LaunchHost> host_in_line(std::string_view where, std::string_view line) {
  std::string_view rest = trimmed(line.substr(0, line.find('#')));
  if (rest.empty()) return {};
  LaunchHost host = host_in(where, take_part(rest, spaces));
  for (rest = trimmed(rest); !rest.empty(); rest = trimmed(rest)) {
    const std::string_view word = take_part(rest, spaces);
    if (!word.starts_with("slots=")) complain(where, word, "slots=N after the host");
    host.slots = slots_in(where, word.substr(6));
  }
  return host;
}

void add_host(std::string_view where, std::vector<LaunchHost>& hosts, LaunchHost host) {
  if (std::ranges::find(hosts, host.name, &LaunchHost::name) != hosts.end())
    throw invalid_argument(fmt::format(
        "{}: the host '{}' is there twice; name it once, with all its slots", where, host.name));
  hosts.push_back(std::move(host));
}

}  // namespace

std::vector<LaunchHost> parse_hosts(std::string_view text) {
  std::vector<LaunchHost> hosts;
  for (std::string_view rest = text; !rest.empty();)
    add_host("-H", hosts, host_in("-H", trimmed(take_part(rest, ","))));
  if (hosts.empty() || text.ends_with(',')) complain("-H", text, std::string(form) + ", with commas");
  return hosts;
}

std::vector<LaunchHost> parse_hosts_file(const std::string& path, std::string_view text) {
  std::vector<LaunchHost> hosts;
  for (int number = 1; !text.empty(); ++number) {
    const std::string where = fmt::format("{}:{}", path, number);
    if (auto host = host_in_line(where, take_part(text, "\n"))) add_host(where, hosts, std::move(*host));
  }
  if (hosts.empty())
    throw invalid_argument(fmt::format("{}: expected a host in each line, got none", path));
  return hosts;
}

std::vector<LaunchHost> read_hosts_file(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) throw Error(Code::not_found, fmt::format("the hosts file '{}' cannot be read", path));
  return parse_hosts_file(path, *text);
}

}  // namespace actorflow
