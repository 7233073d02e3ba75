// Checkpoints while replicas train that wait for each other: the steps are held for as long as it takes
// to keep what is to be saved, and no longer.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <caf/send.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "actors/actorflow.h"
#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "dataflow/ops/training_ops.h"
#include "test/actors/support/saver_counter.h"
#include "test/support/checkpoint_watch.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(step_holds)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A variable on each server; all change by the same amount in each step.
struct Replica {
  Graph g;
  Variable step;
  TrainOp train;
  std::unique_ptr<Saver> saver;
  std::unique_ptr<Session> session;

  Replica(LocalCluster& tasks, int servers, const Replication& replication,
          std::int64_t longest_hold_ms) {
    const std::string worker = "/job:worker/task:" + std::to_string(replication.replica);
    std::vector<Variable> variables;
    g.on(replica_device_setter(servers, "ps", worker), [&] {
      step = global_step(g);
      Output loss = g.constant(0.0F);
      for (int i = 0; i < servers; ++i) {
        variables.push_back(g.variable(std::string(1, static_cast<char>('a' + i)), g.constant(0.0F)));
        loss = loss - variables.back();
      }
      train = minimize(g, loss, variables, step, Adam{0.1}, replication);
    });
    variables.push_back(step);
    saver = std::make_unique<Saver>(
        g, variables, step,
        SaverOptions{.keep = {.max_to_keep = 0}, .longest_hold_ms = longest_hold_ms});
    session = std::make_unique<Session>(tasks.server("worker", replication.replica).target(), g);
  }

  void begin() {
    if (train.local_init) session->run({}, {}, {train.local_init});
  }
  std::int64_t run() { return session->run(train).scalar<std::int64_t>(); }
  // Fails as deadline_exceeded if it must wait.
  void try_to_run() { session->run(train, {}, {.timeout_ms = 100}); }
  // A part of a step: of all variables one is updated, or gets a gradient.
  void update(const std::string& variable) {
    for (NodeId id = 0; id < g.def().size(); ++id)
      if (const auto& name = g.def().node(id).name;
          name == "train/apply/" + variable || name == "train/accumulate/" + variable)
        session->run(std::vector<Output>{}, {}, {Output{&g, {id, 0}}});
  }
};

struct Job {
  static constexpr int workers = 3;
  MemoryStorage storage;
  LocalCluster tasks;
  std::vector<std::unique_ptr<Replica>> replicas;

  explicit Job(Replication replication, std::int64_t longest_hold_ms = 60'000, int servers = 2)
      : tasks({{"ps", servers}, {"worker", workers}}, runtime_on(storage)) {
    replication.replicas = workers;
    for (replication.replica = 0; replication.replica < workers; ++replication.replica)
      replicas.push_back(std::make_unique<Replica>(tasks, servers, replication, longest_hold_ms));
    replicas[0]->session->initialize_variables();
    for (auto& replica : replicas) replica->begin();
  }

  Replica& operator[](std::size_t i) { return *replicas[i]; }
  void make_a_step() {
    std::vector<std::jthread> threads;
    for (auto& replica : replicas) threads.emplace_back([&] { replica->run(); });
  }
  // The first server hears that the worker is gone.
  void lose(int worker) {
    const auto task = tasks.server("ps", 0).context();
    const TaskId id = task->id_of({"worker", worker});
    caf::anon_send(task->coordinator, PeerLost{id, 0, {Code::unavailable, "killed"}});
  }
  // As a checkpoint of the first worker does, while that one rests.
  HoldAnswer hold(std::int64_t limit_ms) {
    Graph g;
    const Output answer = g.on("/job:ps/task:0", [&] {
      return g.add(hold_steps_op(), {g.constant(Tensor::of<std::int64_t>({1}, {0}))},
                   {{"variable", std::string("global_step")}, {"limit_ms", limit_ms}});
    });
    Session session(tasks.server("worker", 0).target(), g);
    return static_cast<HoldAnswer>(session.run(answer).scalar<std::int64_t>());
  }
  SavedCheckpoint save() { return replicas[0]->saver->save(*replicas[0]->session, storage, run_folder); }
};

const Replication staleness{.strategy = BoundedStaleness{2}};
const Replication backup{.strategy = Synchronous{.replicas_to_aggregate = 2}};

// All train until the global step, and the chief saves after each of its steps.
void save_while_training(const Replication& replication, int servers = 2) {
  constexpr std::int64_t last_step = 200;
  Job job(replication, 60'000, servers);
  std::atomic<int> saved = 0, of_one_step = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < Job::workers; ++i)
      threads.emplace_back([&, i] {
        while (job[i].run() < last_step)
          if (i == 0) {
            ++saved;
            of_one_step += job.save().one_step;
          }
        if (job[i].train.leave) job[i].session->run({}, {}, {job[i].train.leave});
      });
  }
  BOOST_TEST(job.save().global_step >= last_step);
  BOOST_TEST(saved > 10);
  BOOST_TEST(of_one_step == saved);
  CheckpointWatch watch(run_folder);
  watch.look(job.storage);
  BOOST_TEST(watch.seen() > 10U);
  BOOST_TEST(watch.of_several_steps() == 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(with_a_backup_worker_every_checkpoint_is_of_one_step) {
  save_while_training(backup);
}

// Replicas ask for their tokens while gradients are on their way.
BOOST_AUTO_TEST_CASE(with_a_backup_worker_and_many_servers_every_checkpoint_is_of_one_step) {
  save_while_training(backup, 4);
}

BOOST_AUTO_TEST_CASE(with_bounded_staleness_every_checkpoint_is_of_one_step) {
  save_while_training(staleness);
}

BOOST_AUTO_TEST_CASE(a_step_that_does_not_end_in_time_makes_a_checkpoint_that_says_so) {
  Job job(staleness, 100);
  job[1].update("a");
  const SavedCheckpoint saved = job.save();
  BOOST_TEST(!saved.one_step);
  BOOST_TEST(!read_manifest(job.storage, saved.path).one_step);
  BOOST_TEST(job[2].run() == 1);  // nobody is held any more
}

// The other replicas are lost when the one server has their gradients and the other one has not.
BOOST_AUTO_TEST_CASE(a_step_that_some_variables_have_made_is_waited_for_though_nobody_is_left) {
  Job job(backup);
  job.make_a_step();
  for (const std::size_t lost : {1U, 2U}) {
    job[lost].update("a");
    job.lose(static_cast<int>(lost));
  }
  BOOST_TEST((job.hold(100) == HoldAnswer::too_late));
}

BOOST_AUTO_TEST_CASE(a_holder_that_is_lost_holds_nobody) {
  Job job(Replication{.strategy = BoundedStaleness{1'000'000}});
  job[1].update("a");
  Status saved;
  std::jthread saving([&] { saved = status_of([&] { job.save(); }); });
  // Until it is held.
  while (status_of([&] { job[2].try_to_run(); }).ok()) {
  }
  job[0].session->close();
  saving.join();
  BOOST_TEST(!saved.ok());
  const auto before = job[2].run();
  BOOST_TEST(job[2].run() == before + 1);
}

BOOST_AUTO_TEST_CASE(asynchronous_training_is_never_held) {
  Job job(Replication{});
  job[1].update("a");
  BOOST_TEST(!job.save().one_step);
  job[1].update("b");
  BOOST_TEST(job[2].run() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
