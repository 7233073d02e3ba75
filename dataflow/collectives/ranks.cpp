#include "dataflow/collectives/ranks.h"

#include <charconv>
#include <map>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

HostSlots parse_host(std::string_view text) {
  const auto end_of_name = text.starts_with('[') ? text.find(']') : 0;
  const auto colon = end_of_name == text.npos ? text.npos : text.find(':', end_of_name);
  HostSlots host{std::string(text.substr(0, colon)), 1};
  const auto wrong = [&] {
    return invalid_argument(
        "expected hosts such as 'a:1,b:2', a name and a number of slots from 1 on, got '" +
        std::string(text) + "'");
  };
  if (host.host.empty() || end_of_name == text.npos) throw wrong();
  if (colon == text.npos) return host;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, host.slots);
  if (error != std::errc() || rest != end || host.slots < 1) throw wrong();
  return host;
}

}  // namespace

std::vector<HostSlots> parse_host_slots(std::string_view text) {
  std::vector<HostSlots> hosts;
  for (;;) {
    const auto comma = text.find(',');
    hosts.push_back(parse_host(text.substr(0, comma)));
    if (comma == text.npos) return hosts;
    text.remove_prefix(comma + 1);
  }
}

std::vector<RankPlace> place_ranks(const std::vector<HostSlots>& hosts, int processes) {
  std::vector<std::string> host_of_rank;
  int slots = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    slots += hosts[i].slots;
    // Two entries of one name are two hosts.
    const auto room = static_cast<std::size_t>(processes) - host_of_rank.size();
    host_of_rank.insert(host_of_rank.end(), std::min(room, static_cast<std::size_t>(hosts[i].slots)),
                        std::to_string(i));
  }
  if (processes < 1)
    throw invalid_argument("expected 1 process or more, got " + std::to_string(processes));
  if (processes > slots)
    throw invalid_argument("Requested more processes (" + std::to_string(processes) +
                           ") than there are available slots (" + std::to_string(slots) + ")");
  return places_of(host_of_rank);
}

std::vector<RankPlace> places_of(const std::vector<std::string>& host_of_rank) {
  std::map<std::string, int> processes;  // by host
  std::map<int, int> hosts;              // that have this local rank
  std::vector<RankPlace> places;
  for (const auto& host : host_of_rank) {
    const int local = processes[host]++;
    places.push_back(
        {.rank = static_cast<int>(places.size()), .local_rank = local, .cross_rank = hosts[local]++});
  }
  for (auto& place : places) {
    place.local_size = processes[host_of_rank[static_cast<std::size_t>(place.rank)]];
    place.cross_size = hosts[place.local_rank];
  }
  return places;
}

}  // namespace actorflow
