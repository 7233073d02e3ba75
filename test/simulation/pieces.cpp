// What computes in a simulation keeps itself busy: the other actors of its task go on meanwhile.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <vector>

#include "actors/jobs/job.h"
#include "actors/simulation/sim_cluster.h"
#include "actors/simulation/world/world.h"

BOOST_AUTO_TEST_SUITE(pieces)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

constexpr int tasks = 4, parts = 40;

struct Running {
  SimCluster sim{{{"worker", tasks}}, {.longest_kernel = 0ns}};
  std::array<int, tasks> made{};  // parts, by task
};
Running* running = nullptr;

void compute_a_second_a_part(Job& job) {
  std::vector<int> numbers(parts);
  std::iota(numbers.begin(), numbers.end(), 0);
  job.from(numbers, numbers.size())
      .map([](int part) {
        World& world = running->sim.world();
        ++running->made.at(static_cast<std::size_t>(world.current()));
        world.charge(1s);
        return part;
      })
      .count();
}

}  // namespace

// The first task's coordinator answers the others while a part computes beside it.
BOOST_AUTO_TEST_CASE(tasks_that_compute_share_the_parts_evenly) {
  Running here;
  running = &here;
  JobOptions options;
  options.threads = 2;
  here.sim
      .start([&](SimTask& task) {
        run_job(task.server(), {{"seconds", compute_a_second_a_part}}, "seconds", options);
      })
      .finish();
  const auto [least, most] = std::ranges::minmax(here.made);
  BOOST_TEST(most - least <= 2);
  const auto at_best = std::chrono::seconds(parts / (tasks * static_cast<int>(options.threads)));
  BOOST_TEST((here.sim.statistics().simulated < 3 * at_best));
}

BOOST_AUTO_TEST_SUITE_END()
