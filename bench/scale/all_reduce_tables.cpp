#include "bench/scale/all_reduce_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

// The times of all algorithms on some hosts, for one size.
class Race {
 public:
  Race(HostSizes hosts, std::int64_t bytes, double sum_growth, const HostNetwork& network)
      : hosts_(std::move(hosts)),
        bytes_(bytes),
        sum_growth_(sum_growth),
        network_(network),
        runs_(host_runs(hosts_)) {
    for (const Algorithm algorithm : algorithms) {
      if (algorithm == Algorithm::hierarchical && runs_.largest == 1) continue;  // a ring
      times_[algorithm] =
          time_of(plan_all_reduce(algorithm, runs_, bytes, network.measured(), sum_growth));
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
    return std::max(
        0., 100 * (time_of(choose_all_reduce(runs_, bytes_, model, sum_growth_)) / shortest() - 1));
  }

 private:
  using Times = std::map<Algorithm, double>;

  double time_of(const AllReducePlan& plan) const {
    return simulate_all_reduce(plan, hosts_, bytes_, network_, sum_growth_);
  }

  const HostSizes hosts_;
  const std::int64_t bytes_;
  const double sum_growth_;
  const HostNetwork& network_;
  const HostRuns runs_;
  Times times_;
};

struct Row {
  std::string name;
  HostSizes hosts;
};

void tabulate(const std::string& what, const std::string& of_rows, const std::vector<Row>& rows,
              const HostNetwork& network, double sum_growth = 1) {
  fmt::print("\n## All-reduce at {:.0f} Gbit/s, {}: ms of the fastest algorithm\n\n| {} |",
             8e-9 * network.links.bytes_per_second, what, of_rows);
  std::vector<std::int64_t> sizes;
  for (int bits = 12; bits <= 30; bits += 3) sizes.push_back(std::int64_t{1} << bits);
  for (const auto bytes : sizes) fmt::print(" {} |", size_text(bytes));
  fmt::print("\n|---|");
  for (std::size_t i = 0; i < sizes.size(); ++i) fmt::print("---|");
  fmt::print("\n");
  double longest = 0, longest_measured = 0;
  for (const Row& row : rows) {
    fmt::print("| {} |", row.name);
    for (const auto bytes : sizes) {
      const Race race(row.hosts, bytes, sum_growth, network);
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

// The last host has the rest.
std::vector<Row> rows_of(const std::vector<int>& ranks, int ranks_per_host) {
  std::vector<Row> rows;
  for (const int number : ranks) {
    Row row{std::to_string(number), {}};
    for (int left = number; left > 0; left -= ranks_per_host)
      row.hosts.push_back(std::min(left, ranks_per_host));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

void tabulate_all_reduces(const std::vector<int>& ranks, int ranks_per_host,
                          const HostNetwork& network) {
  tabulate(ranks_per_host == 1 ? "1 rank a host" : fmt::format("{} ranks a host", ranks_per_host),
           "ranks", rows_of(ranks, ranks_per_host), network);
}

void tabulate_short_numbers(const HostNetwork& network) {
  tabulate("8 ranks a host, numbers of 16 bits", "ranks", rows_of({8, 16, 32, 64}, 8), network, 2);
}

void tabulate_unequal_hosts(const HostNetwork& network) {
  const std::vector<HostSizes> layouts{{2, 1}, {1, 2},    {4, 1},    {4, 3},    {8, 1},      {1, 8},
                                       {8, 4}, {4, 8, 2}, {8, 8, 1}, {8, 1, 8}, {1, 1, 1, 8}};
  std::vector<Row> rows;
  for (const HostSizes& hosts : layouts)
    rows.push_back({fmt::format("{}", fmt::join(hosts, " + ")), hosts});
  tabulate("hosts of different numbers of ranks", "ranks of each host", rows, network);
}

}  // namespace actorflow::bench
