// A job that does nothing but save, for tests of faulty disks.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/checkpoint/checkpoint.h"
#include "actors/monitored/storage_error.h"
#include "actors/simulation/seeds.h"
#include "actors/simulation/sim_cluster.h"

namespace actorflow::test {

// Returns what `body` returns; calls it again while the disk answers with errors.
template <class Body>
auto patiently(SimTask& task, Body&& body) {
  while (true) try {
      return body();
    } catch (const Error& error) {
      if (!is_of_storage(error.code()) || error.code() == Code::not_found) throw;
      task.sleep(std::chrono::milliseconds(20));
    }
}

// A parameter server and a chief, which counts in a variable of several sectors and saves each step,
// until the last. It must always begin with the state that the disk has confirmed; otherwise it throws
// internal.
class SavingJob {
 public:
  void run(SimTask& task) {
    if (task.server().name().job == "ps") return static_cast<void>(task.server().join());
    Session session(task.server().target(), graph_.g);
    begin(task, session);
    for (auto step = present(session); step < last_step;) {
      session.run(std::vector<Output>{}, {}, {graph_.count, graph_.next});
      save(task, session, ++step);
    }
    task.server().shutdown_cluster("all has been saved");
  }

  static constexpr std::int64_t last_step = 30;
  // The last step that the disk has confirmed as saved.
  std::int64_t promised() const { return promised_; }

 private:
  struct Counter {
    Graph g;
    Variable step, counts;
    Output next, count;

    Counter() {
      g.on("/job:ps/task:0", [&] {
        step = global_step(g);
        counts = g.variable("counts", g.constant(Tensor::zeros(DType::float32, {600})));
        count = g.assign_add(counts, fill(g, {600}, 1));
        next = g.assign_add(step, g.constant<std::int64_t>(1));
      });
    }
  };

  std::int64_t present(Session& session) { return session.run(graph_.step).scalar<std::int64_t>(); }

  void begin(SimTask& task, Session& session) {
    expect_whole(task);
    const auto restored =
        patiently(task, [&] { return saver_.restore(session, task.storage(), folder, true); });
    if (restored.value_or(0) < promised_)
      throw Error(Code::internal, fmt::format("step {} was saved, but the disk has {}", promised_,
                                              restored ? std::to_string(*restored) : "nothing"));
    if (!restored) session.initialize_variables();
    for (const float value : session.run(graph_.counts).values<float>())
      if (value != static_cast<float>(restored.value_or(0)))
        throw Error(Code::internal, fmt::format("restored {} at step {}", value, restored.value_or(0)));
  }

  // Checks that every checkpoint, not just the newest, is whole.
  void expect_whole(SimTask& task) {
    patiently(task, [&] {
      for (const auto& path : list_checkpoints(task.storage(), folder))
        load_checkpoint(task.storage(), path);
      return 0;
    });
  }

  void save(SimTask& task, Session& session, std::int64_t step) {
    patiently(task, [&] { return saver_.save(session, task.storage(), folder); });
    promised_ = step;
  }

  inline static const std::string folder = "job/checkpoints";

  Counter graph_;
  Saver saver_{graph_.g, {graph_.step, graph_.counts}, graph_.step, {.keep = {.max_to_keep = 2}}};
  std::int64_t promised_ = 0;
};

// Runs the job with faults of these kinds, drawn from the seed.
inline void save_through_faults(std::vector<FaultKind> kinds) {
  SavingJob job;
  SimCluster sim({{"ps", 1}, {"worker", 1}});
  auto run = sim.start([&job](SimTask& task) { job.run(task); });
  const auto* scope = SeedScope::current();
  sim.apply(random_fault_plan(scope ? scope->options().seed : 1, sim.cluster().all_tasks(),
                              {.count = 6,
                               .until = std::chrono::milliseconds(600),
                               .longest = std::chrono::milliseconds(200),
                               .kinds = std::move(kinds)}));
  run.finish();
  if (job.promised() != SavingJob::last_step)
    throw Error(Code::internal, "the job has not saved its last step");
}

}  // namespace actorflow::test
