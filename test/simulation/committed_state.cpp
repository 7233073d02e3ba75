// Training loops of programs that go back to what they have committed when ranks are lost: they learn
// the bits of a serial loop.
#include "actors/eager/committed_state.h"

#include <boost/test/unit_test.hpp>
#include <stdexcept>

#include "actors/simulation/simulation_test.h"
#include "test/support/contributions.h"

BOOST_AUTO_TEST_SUITE(committed_state)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

using enum FaultKind;

constexpr int ranks = 3, steps = 30;
const Shape shape{10};

Tensor sum_of(const Tensor& a, const Tensor& b) {
  Tensor sum = Tensor::allocate(DType::float32, shape);
  for (std::size_t i = 0; i < 10; ++i)
    sum.mutable_values<float>()[i] = a.values<float>()[i] + b.values<float>()[i];
  return sum;
}

Tensor learned_serially() {
  Tensor weights = Tensor::zeros(DType::float32, shape);
  for (int step = 0; step < steps; ++step)
    weights = sum_of(weights, test::serial<float>(ranks, shape, step));
  return weights;
}

// A process that is started again begins with nothing. Whoever is done stays, for others may have lost
// the last step.
void run_rank(SimTask& task, int& done) {
  const EagerVariable weights("weights", Tensor::zeros(DType::float32, shape));
  std::int64_t step = 0;
  CommittedState state({{weights}}, {step});
  const auto train = [&](const Communicator& world) {
    for (; step < steps; state.commit()) {
      const Tensor own = test::contribution<float>(world.rank(), shape, static_cast<int>(step));
      weights.assign(sum_of(weights.read(), world.all_reduce(own, {.name = "gradient"})));
      ++step;
      task.sleep(10ms);
    }
    world.barrier();
  };
  run_elastic(
      state, [&] { return Communicator(task.server()); }, train);
  if (!identical(weights.read(), learned_serially())) throw std::logic_error("other bits were learned");
  ++done;
}

}  // namespace

SIMULATION_TEST(killed_ranks_that_come_back_change_no_bit, seeds(1, 40)) {
  const SimOptions options = of_this_seed({.time_limit = 10min});
  SimCluster sim({{"worker", ranks}}, options);
  int done = 0;
  auto run = sim.start([&done](SimTask& task) { run_rank(task, done); });
  sim.apply(random_fault_plan(options.seed, {{"worker", 0}, {"worker", 1}, {"worker", 2}},
                              {.count = 3,
                               .until = 200ms,
                               .longest = 2s,
                               .kinds = {kill, partition, delay, lossy, duplicate, late}}));
  run.finish();
  BOOST_TEST(done == ranks);
}

BOOST_AUTO_TEST_SUITE_END()
