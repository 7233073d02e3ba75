#include "bench/scale/parameter_servers.h"

#include <algorithm>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/simulation/sim_cluster.h"
#include "actors/simulation/sim_network.h"
#include "actors/simulation/world/world.h"
#include "bench/harness.h"
#include "bench/scale/peak_memory.h"
#include "bench/scale/virtual_time.h"

namespace actorflow::bench {
namespace {

using namespace std::chrono_literals;

constexpr int warm_up_steps = 2;
// When all tasks are up and the variables have their values.
constexpr auto begin_training = 5s;

// The loss is half the sum of the squares of all variables, so that each is its own gradient: a step
// reads all of them and updates all of them, and computes next to nothing.
struct Replica {
  Graph graph;
  Variable step;
  TrainOp train;

  Replica(const PsJob& job, int index) {
    const std::string self = TaskName{"worker", index}.to_string();
    graph.on(replica_device_setter(job.ps, "ps", self), [&] {
      step = global_step(graph);
      std::vector<Variable> variables;
      Output loss;
      for (int i = 0; i < job.ps; ++i) {
        const Shape shape{job.bytes_per_ps / 4};
        const Variable v = graph.on("/job:ps/task:" + std::to_string(i), [&] {
          return graph.variable("v" + std::to_string(i), fill(graph, shape, 1.0));
        });
        const Output term = sum(v.value() * v.value()) * 0.5;
        loss = i == 0 ? term : loss + term;
        variables.push_back(v);
      }
      train = minimize(graph, loss, variables, step, Sgd{1e-6},
                       {.replica = index, .replicas = job.workers, .strategy = job.strategy});
    });
  }
};

// What the workers measure together, without a lock: a simulation is one thread.
struct Measured {
  double step_s = 0, steps_per_s = 0;  // sums over the workers
  std::chrono::nanoseconds begin = std::chrono::hours(1), end{0};
  int done = 0;
};

// What has happened on the network so far.
struct Traffic {
  std::chrono::nanoseconds coordinator{0}, other_ps{0};  // busy
  std::uint64_t messages = 0, deliveries = 0;
};

class Simulation {
 public:
  explicit Simulation(const PsJob& job)
      : job_(job),
        sim_({{"ps", job.ps}, {"worker", job.workers}},
             {.links = job.links, .longest_kernel = std::chrono::nanoseconds(0)}) {}

  PsJobTimes run() {
    PsJobTimes times;
    reset_peak_memory();
    times.simulated_in_s = seconds_of([&] {
      sim_.start([this](SimTask& task) { live(task); }).finish();
    });
    times.peak_mib = peak_memory_mib();
    const double elapsed = seconds(m_.end - m_.begin);
    times.step_s = m_.step_s / job_.workers;
    times.steps_per_s = is_synchronous(job_.strategy) ? m_.steps_per_s / job_.workers : m_.steps_per_s;
    times.coordinator_busy = seconds(end_.coordinator - begin_.coordinator) / elapsed;
    times.other_ps_busy = seconds(end_.other_ps - begin_.other_ps) / elapsed;
    const double steps = static_cast<double>(job_.steps) * job_.workers;
    times.messages = static_cast<double>(end_.messages - begin_.messages) / steps;
    times.deliveries = static_cast<double>(end_.deliveries - begin_.deliveries) / steps;
    return times;
  }

 private:
  std::chrono::nanoseconds now() { return sim_.world().elapsed(); }

  void live(SimTask& task) {
    if (task.server().name().job == "worker") work(task);
    // No task leaves while others still train; then they leave one after the other.
    while (m_.done < job_.workers) task.sleep(1s);
    task.sleep(100ms * ++leaving_);
  }

  void work(SimTask& task) {
    const int index = task.server().name().index;
    Replica replica(job_, index);
    Session session(task.server().target(), replica.graph);
    if (index == 0) session.initialize_variables();
    task.sleep(begin_training - now());
    if (replica.train.local_init) session.run({}, {}, {replica.train.local_init});
    const Callable step = session.make_callable({replica.train.step});
    SeededRandom random(static_cast<std::uint64_t>(index) + 1);
    for (int i = 0; i < warm_up_steps; ++i) train(task, step, random);
    begin();
    const auto start = now();
    for (int i = 0; i < job_.steps; ++i) train(task, step, random);
    end(seconds(now() - start));
    // A session that ends tells its tasks so, which is no part of the steps that others still make.
    while (m_.done < job_.workers) task.sleep(1s);
  }

  void train(SimTask& task, const Callable& step, SeededRandom& random) {
    if (job_.compute > 0ns) {
      const double factor = 1 + job_.spread * (2 * random.fraction() - 1);
      task.sleep(std::chrono::nanoseconds(
          static_cast<std::int64_t>(static_cast<double>(job_.compute.count()) * factor)));
    }
    step.run();
  }

  // The first worker that begins, and the last that ends, take the job's readings.
  void begin() {
    if (now() >= m_.begin) return;
    m_.begin = now();
    begin_ = traffic();
  }
  void end(double worker_s) {
    m_.step_s += worker_s / job_.steps;
    m_.steps_per_s += job_.steps / worker_s;
    m_.end = now();
    end_ = traffic();
    ++m_.done;
  }

  // The tracks of parameter servers come first.
  Traffic traffic() {
    SimNetwork& network = sim_.network();
    return {network.handling(0), network.handling(job_.ps - 1), network.messages(),
            network.deliveries()};
  }

  const PsJob& job_;
  Measured m_;
  Traffic begin_, end_;
  int leaving_ = 0;
  SimCluster sim_;
};

}  // namespace

PsJobTimes simulate(const PsJob& job) { return Simulation(job).run(); }

}  // namespace actorflow::bench
