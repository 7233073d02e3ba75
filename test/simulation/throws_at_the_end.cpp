// A handler throws while a job ends, in any of its tasks: the task ends with the reason, comes back to
// others that have left already or wait to be told, and leaves; the weights are those of a job that
// nothing disturbs.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/simulation/sim_cluster.h"
#include "dataflow/ops/queue_ops.h"
#include "test/simulation/support/planted_throw.h"
#include "test/support/small_training.h"

BOOST_AUTO_TEST_SUITE(throws_at_the_end)

using namespace actorflow;
using test::Kind, test::Plant, test::SmallJob, test::Where;
using namespace std::chrono_literals;

namespace {

struct Outcome {
  std::vector<Tensor> learned;     // by the chief
  std::vector<std::string> heard;  // by the step that waited until the job was over
  std::vector<std::string> ends;   // the reasons of tasks that ended themselves
};

// What the last worker does when it has trained waits until the job is over.
class Training final : public test::SmallTraining {
 public:
  Training(SimTask& task, const SmallJob& job, Outcome& outcome)
      : SmallTraining(task.server(), job), task_(task), outcome_(outcome) {}

  void on_last_step(Session&) override {
    if (task_.server().name() != TaskName{"worker", 1} || task_.life() > 1) return;
    Graph g;
    const Queue queue(g, QueueKind::fifo,
                      {.name = "empty", .components = {{DType::int64, {}}}, .capacity = 1});
    Session session(task_.server().target(), g);
    try {
      session.run(queue.dequeue()[0]);
    } catch (const Error& error) {
      outcome_.heard.emplace_back(error.what());
    }
  }
  void finish(Session& session) override {
    SmallTraining::finish(session);
    outcome_.learned = learned;
  }

 private:
  SimTask& task_;
  Outcome& outcome_;
};

Outcome train(const SmallJob& job) {
  static const std::atomic<bool> never{false};
  Outcome outcome;
  SimCluster sim(test::small_tasks<SimCluster>(job, 2),
                 {.seed = 1, .time_limit = 10min, .restart_failed = 1s});
  auto run = sim.start([&](SimTask& task) {
    if (task.server().name().job == "ps")
      return void(serve_parameters(task.server(), small_options(job)));
    Training program(task, job, outcome);
    run_replica(task.server(), program, small_options(job), never);
  });
  run.finish();
  outcome.ends = sim.statistics().ends;
  return outcome;
}

bool says(const std::vector<std::string>& texts, const std::string& what) {
  return std::ranges::any_of(texts,
                             [&what](const auto& text) { return text.find(what) != std::string::npos; });
}

void expect_the_same(const SmallJob& job, const Where& where, const std::vector<Tensor>& undisturbed) {
  BOOST_TEST_CONTEXT(where.handler << (where.after ? " at its end, time " : ", time ")
                                   << where.occurrence) {
    Plant plant(where);
    try {
      const Outcome outcome = train(job);
      BOOST_TEST(std::ranges::equal(outcome.learned, undisturbed, identical));
      BOOST_TEST(says(outcome.ends, plant.cause()));
      BOOST_TEST((says(outcome.heard, "the job is over") || outcome.heard.empty()));
    } catch (const Error& error) {
      BOOST_ERROR(error.what());
    }
    BOOST_TEST(plant.thrown());
  }
}

// In every task, which is every time that the handler runs.
void throw_everywhere(const SmallJob& job, const std::string& handler) {
  std::vector<Tensor> undisturbed;
  std::uint64_t times = 0;
  {
    const Plant nothing;
    const Outcome outcome = train(job);
    BOOST_TEST_REQUIRE(!outcome.learned.empty());
    BOOST_TEST(says(outcome.heard, "the job is over"));
    undisturbed = outcome.learned;
    times = nothing.seen().at(handler);
  }
  BOOST_TEST(times > 1, handler << " runs in too few tasks");
  for (std::uint64_t time = 1; time <= times; ++time)
    for (const bool after : {false, true})
      expect_the_same(job, {handler, after, time, static_cast<Kind>(time % 3)}, undisturbed);
}

const SmallJob with_servers{.strategy = Synchronous{}, .steps = 20, .folder = "checkpoints"};
const SmallJob by_all_reduce{.strategy = AllReduce{}, .steps = 20, .folder = "checkpoints"};

}  // namespace

BOOST_AUTO_TEST_CASE(of_steps_that_still_run) {
  throw_everywhere(with_servers, "master/StopSteps");
  throw_everywhere(by_all_reduce, "master/StopSteps");
}

BOOST_AUTO_TEST_CASE(of_those_who_wait_for_other_replicas) {
  throw_everywhere(with_servers, "coordinator/JobOver");
}

BOOST_AUTO_TEST_CASE(of_collective_operations) {
  throw_everywhere(by_all_reduce, "collectives/JobOver");
}

BOOST_AUTO_TEST_SUITE_END()
