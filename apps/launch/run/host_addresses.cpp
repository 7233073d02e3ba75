#include "apps/launch/run/host_addresses.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/launch/run/keeper_link.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr const char* loopback = "127.0.0.1";

bool is_on_loopback(const JobAddresses& addresses) { return addresses.hosts.front() == loopback; }

}  // namespace

JobAddresses first_addresses(const JobSpec& job, bool secure) {
  JobAddresses addresses;
  const bool may_grow =
      !job.host_discovery.empty() && (secure || std::ranges::count(job.command, "--insecure") > 0);
  const auto is_local = [&](const LaunchHost& host) {
    if (may_grow) return host.name == "localhost";
    return is_this_machine(host) || (host.is_allocated && job.hosts.size() == 1);
  };
  if (std::ranges::all_of(job.hosts, is_local)) {
    addresses.hosts.assign(static_cast<std::size_t>(num_hosts(job)), loopback);
    return addresses;
  }
  for (const auto& host : job.hosts) {
    if (host.name == "localhost")
      throw invalid_argument(
          "'localhost' is among other hosts, which do not reach it by that name; say this machine's "
          "name");
    addresses.hosts.push_back(host.name);
  }
  return addresses;
}

void check_joins(const JobAddresses& addresses, const LaunchHost& host) {
  const bool on_loopback = is_on_loopback(addresses);
  if (on_loopback ? is_this_machine(host) : host.name != "localhost") return;
  throw invalid_argument(
      fmt::format("the job's tasks talk by {}; let the script name this machine by its name on the "
                  "network, and not as localhost, from the start, and say --secure",
                  on_loopback ? "loopback" : "the network"));
}

void add_host(JobAddresses& addresses, const LaunchHost& host) {
  addresses.hosts.push_back(is_on_loopback(addresses) ? loopback : host.name);
}

}  // namespace actorflow
