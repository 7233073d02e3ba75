#include "bench/scale/all_reduce_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

namespace actorflow::bench {
namespace {

constexpr Algorithm algorithms[] = {Algorithm::direct, Algorithm::doubling, Algorithm::rabenseifner,
                                    Algorithm::ring, Algorithm::hierarchical};

std::string size_text(std::int64_t bytes) {
  if (bytes >= 1 << 30) return fmt::format("{} GiB", bytes >> 30);
  return bytes >= 1 << 20 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
}

// The times of all algorithms for one number of ranks and one size.
class Race {
 public:
  Race(int ranks, std::int64_t bytes, const HostNetwork& network)
      : ranks_(ranks), bytes_(bytes), network_(network), hosts_(network.hosts(ranks)) {
    for (const Algorithm algorithm : algorithms) {
      if (algorithm == Algorithm::hierarchical && hosts_.largest == 1) continue;  // a ring
      const auto plan = plan_all_reduce(algorithm, hosts_, bytes, network.measured());
      times_[algorithm] = simulate_all_reduce(plan, ranks, bytes, network);
    }
  }

  Algorithm fastest() const {
    return std::ranges::min_element(times_, {}, &Times::value_type::second)->first;
  }
  double shortest() const { return times_.at(fastest()); }
  // How many times as long the next algorithm takes.
  double lead() const {
    double next = 0;
    for (const auto& [algorithm, time] : times_)
      if (algorithm != fastest() && (next == 0 || time < next)) next = time;
    return next / shortest();
  }
  // How much longer the plan takes that the cost model chooses, in per cent.
  double regret(const CostModel& model) const {
    const auto plan = choose_all_reduce(hosts_, bytes_, model);
    return std::max(0., 100 * (simulate_all_reduce(plan, ranks_, bytes_, network_) / shortest() - 1));
  }

 private:
  using Times = std::map<Algorithm, double>;

  const int ranks_;
  const std::int64_t bytes_;
  const HostNetwork& network_;
  const HostRuns hosts_;
  Times times_;
};

}  // namespace

void tabulate_all_reduces(const std::vector<int>& ranks, const HostNetwork& network) {
  const int per_host = network.ranks_per_host;
  fmt::print("\n## All-reduce at {:.0f} Gbit/s, {} a host: ms of the fastest algorithm\n\n| ranks |",
             8e-9 * network.links.bytes_per_second,
             per_host == 1 ? "1 rank" : fmt::format("{} ranks", per_host));
  std::vector<std::int64_t> sizes;
  for (int bits = 12; bits <= 30; bits += 3) sizes.push_back(std::int64_t{1} << bits);
  for (const auto bytes : sizes) fmt::print(" {} |", size_text(bytes));
  fmt::print("\n|---|");
  for (std::size_t i = 0; i < sizes.size(); ++i) fmt::print("---|");
  fmt::print("\n");
  double longest = 0, longest_measured = 0;
  for (const int number : ranks) {
    fmt::print("| {} |", number);
    for (const auto bytes : sizes) {
      const Race race(number, bytes, network);
      const double more = race.regret({});
      fmt::print(" {} {:.3g} x{:.2g}{} |", to_string(race.fastest()), 1e3 * race.shortest(), race.lead(),
                 more < 1 ? "" : fmt::format(" (+{:.0f} %)", more));
      std::fflush(stdout);
      longest = std::max(longest, more);
      longest_measured = std::max(longest_measured, race.regret(network.measured()));
    }
    fmt::print("\n");
  }
  fmt::print(
      "\nx: how many times as long the next algorithm takes. In brackets: how much longer that takes "
      "which the cost model chooses. At most {:.0f} %; with constants measured on this network {:.0f} "
      "%.\n",
      longest, longest_measured);
}

}  // namespace actorflow::bench
