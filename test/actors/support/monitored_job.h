// For the suites of monitored sessions: a program of one weight, and a job of two workers that trains
// it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/monitored/hooks.h"
#include "actors/monitored/monitored_session.h"
#include "test/support/folder.h"

namespace actorflow::test {

// loss = mean(w x): its gradient is the fed x.
struct MonitoredProgram {
  Graph g;
  Variable step, w;
  Output x, loss;
  TrainOp train;

  explicit MonitoredProgram(int replica = 0) {
    g.on(replica_device_setter(1, "ps", "/job:worker/task:" + std::to_string(replica)), [&] {
      step = global_step(g);
      w = g.variable("w", g.constant(Tensor::of<float>({1}, {1.0F})));
      x = g.placeholder(DType::float32, {1}, "x");
      loss = mean(w.value() * x);
      train = minimize(g, loss, {w}, step, Sgd{0.5});
    });
  }
  Feeds feed(float gradient) const { return {{x, Tensor::of<float>({1}, {gradient})}}; }
};

// A chief and another worker, with a parameter server, and the folder of their checkpoints.
struct MonitoredJob {
  LocalCluster tasks{{{"ps", 1}, {"worker", 2}}};
  Folder folder;

  Server& worker(int i) { return tasks.server("worker", i); }
  MonitoredOptions chief() {
    MonitoredOptions options;
    options.checkpoint_dir = folder.path();
    options.log_step_count_steps = 0;
    return options;
  }
  MonitoredOptions other() {
    MonitoredOptions options = chief();
    options.is_chief = false;
    options.chief = {"worker", 0};
    return options;
  }
};

// Writes down how it is called, and what `fetch` was.
struct HookRecorder : SessionHook {
  std::string calls;
  Output fetch;
  std::vector<float> seen;

  void begin(Scaffold&) override { calls += "begin "; }
  void after_create_session(RunContext&) override { calls += "created "; }
  RunArgs before_run(RunContext&) override {
    calls += "before ";
    return {fetch ? std::vector{fetch} : std::vector<Output>{}, {}};
  }
  void after_run(RunContext&, std::span<const Tensor> results) override {
    calls += "after ";
    for (const auto& result : results) seen.push_back(result.values<float>()[0]);
  }
  void end(Session&) override { calls += "end "; }
};

inline float weight(MonitoredSession& session, const MonitoredProgram& p) {
  return session.session().run(p.w).values<float>()[0];
}

}  // namespace actorflow::test
