// Simulated clusters: messages a second on one core, and how much faster than real time training passes.
#include "apps/scenario/simulate.h"
#include "bench/harness.h"

namespace actorflow::bench {
namespace {

// 1 ps and 8 workers, synchronous, on digits; a kernel takes up to `kernel_ns` of simulated time.
Scenario job(std::int64_t steps, std::int64_t kernel_ns) {
  ScenarioFlags flags;
  flags.ps = 1;
  flags.workers = 8;
  flags.train.sync = true;
  flags.kernel_time = kernel_ns;
  flags.time_limit = 3'600'000'000'000'000;
  flags.train.data = "digits";
  flags.train.hidden = {8};
  flags.train.batch_size = 4;
  flags.train.train_steps = steps;
  flags.train.save_checkpoint_steps = 1'000'000;
  return {"bench", flags};
}

// Per second of ours: what `figure` takes from the run.
Measurement measure(const Scenario& scenario, double bar, double (*figure)(const SimulatedJob&)) {
  return in_turn(
      5,
      [&] {
        SimulatedJob done;
        const double seconds = seconds_of([&] { done = simulate_undisturbed(scenario); });
        return figure(done) / seconds;
      },
      [bar] { return bar; });
}

// An activation handles one message.
Measurement messages(bool quick) {
  return measure(job(quick ? 10 : 500, 40'000), 1e6, [](const SimulatedJob& done) {
    return static_cast<double>(done.statistics.activations);
  });
}

// Steps of about a second.
Measurement real_time(bool quick) {
  return measure(job(quick ? 10 : 500, 100'000'000), 1e3, [](const SimulatedJob& done) {
    return std::chrono::duration<double>(done.statistics.simulated).count();
  });
}

}  // namespace

std::vector<Benchmark> simulation_benchmarks() {
  return {
      {"simulation/messages", "1/s", "1,000,000 a second on one core", at_least(1), messages},
      {"simulation/real_time_1_ps_8_workers", "x", "1,000 x real time", at_least(1), real_time},
  };
}

}  // namespace actorflow::bench
