// Fencing epochs: nothing of a job's earlier life lands in what has been restored since.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <thread>

#include "actors/actorflow.h"
#include "actors/checkpoint/checkpoint.h"
#include "actors/checkpoint/folder_epoch.h"
#include "actors/checkpoint/saver.h"
#include "actors/runtime/threaded_runtime.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/queue_ops.h"
#include "dataflow/ops/training_ops.h"
#include "test/actors/support/memory_storage.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(epoch)

using namespace actorflow;
using test::status_of;

namespace {

const std::string ps = "/job:ps/task:0";

// What every replica builds: loss = mean(w x), whose gradient is the fed x.
struct Program {
  Graph g;
  Variable step, w;
  Output x, restore;
  TrainOp train;
  std::optional<EpochFence> fence;

  Program(int replica, const Strategy& strategy) {
    const std::string own = "/job:worker/task:" + std::to_string(replica);
    g.on(replica_device_setter(1, "ps", own), [&] {
      step = global_step(g);
      w = g.variable("w", g.constant(Tensor::of<float>({1}, {1.0F})));
      x = g.placeholder(DType::float32, {1}, "x");
      train = minimize(g, mean(w.value() * x), {w}, step, Sgd{0.5},
                       {.replica = replica, .replicas = 2, .strategy = strategy});
      restore = g.group({g.assign(w, g.constant(Tensor::of<float>({1}, {5.0F}))),
                         g.assign(step, g.constant(std::int64_t{10}))});
    });
    fence.emplace(g, std::vector{ps, own}, step.device());
  }

  // The node that hands the gradient over, without the wait for the token.
  Output accumulate() {
    const auto& nodes = g.def().nodes;
    const auto found = std::ranges::find(nodes, &accumulate_gradient_op(), &Node::op);
    return {&g, {static_cast<NodeId>(found - nodes.begin()), 0}};
  }
};

struct Job {
  LocalCluster tasks{{{"ps", 1}, {"worker", 2}}};
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<std::unique_ptr<Session>> sessions;

  explicit Job(const Strategy& strategy = Asynchronous{}) {
    for (int i = 0; i < 2; ++i) {
      programs.push_back(std::make_unique<Program>(i, strategy));
      sessions.push_back(std::make_unique<Session>(tasks.server("worker", i).target(), program(i).g));
      session(i).initialize_variables();
    }
  }

  Program& program(int i) { return *programs[static_cast<std::size_t>(i)]; }
  Session& session(int i) { return *sessions[static_cast<std::size_t>(i)]; }
  std::int64_t train(int i, float gradient) {
    Program& p = program(i);
    return session(i).run(p.train, {{p.x, Tensor::of<float>({1}, {gradient})}}).scalar<std::int64_t>();
  }
  void run(int i, const std::vector<Output>& targets, float gradient = 0) {
    const Tensor x = Tensor::of<float>({1}, {gradient});
    session(i).run(std::vector<Output>{}, {{program(i).x, x}}, targets);
  }
  void make_current() {
    for (int i = 0; i < 2; ++i) run(i, {program(i).train.local_init});
  }
  void restore() { session(0).run(std::vector<Output>{}, {}, {program(0).restore}); }
  float weight() { return session(0).run(program(0).w).values<float>()[0]; }
};

void check_fenced(const Status& status) {
  BOOST_TEST((status.code == Code::aborted), status.to_string());
  BOOST_TEST(status.message.starts_with("fenced: "), status.message);
  BOOST_TEST(status.message.find(ps) != std::string::npos, status.message);
}

}  // namespace

BOOST_AUTO_TEST_CASE(steps_of_an_older_epoch_change_nothing) {
  Job job;
  BOOST_TEST(job.program(0).fence->raise(job.session(0)) == 1);
  check_fenced(status_of([&] { job.train(1, 1.0F); }));
  check_fenced(status_of([&] { job.session(1).initialize_variables(); }));
  BOOST_TEST(job.weight() == 1.0F);
}

BOOST_AUTO_TEST_CASE(steps_of_an_older_epoch_may_read) {
  Job job;
  job.program(0).fence->raise(job.session(0));
  BOOST_TEST(job.session(1).run(job.program(1).w).values<float>()[0] == 1.0F);
}

BOOST_AUTO_TEST_CASE(who_joins_the_epoch_trains_on) {
  Job job;
  job.program(0).fence->raise(job.session(0));
  BOOST_TEST(job.program(1).fence->join(job.session(1)) == 1);
  BOOST_TEST(job.train(1, 1.0F) == 1);
  BOOST_TEST(job.train(0, 1.0F) == 2);
  BOOST_TEST(job.weight() == 0.0F);
}

BOOST_AUTO_TEST_CASE(an_epoch_only_rises) {
  Job job;
  Program& p = job.program(0);
  BOOST_TEST(p.fence->raise(job.session(0)) == 1);
  BOOST_TEST(p.fence->raise(job.session(0)) == 2);
  // A new session of the chief begins at 0 and finds what there is.
  Session again(job.tasks.server("worker", 0).target(), p.g);
  BOOST_TEST(p.fence->raise(again) == 3);
  Graph g;
  const Output lower = g.on(ps, [&] { return g.add(raise_epoch_op(), {g.constant(std::int64_t{3})}); });
  Session other(job.tasks.server("worker", 1).target(), g);
  check_fenced(status_of([&] { other.run(std::vector<Output>{}, {}, {lower}); }));
}

BOOST_AUTO_TEST_CASE(who_waits_at_a_queue_is_cancelled_and_what_it_had_taken_goes_back) {
  Job job;
  job.program(0).fence->raise(job.session(0));
  Graph g;
  const Queue queue = g.on(ps, [&] {
    return fifo_queue(g, {.name = "numbers", .components = {{DType::int64, {}}}, .capacity = 10});
  });
  const Output put = queue.enqueue({g.constant(std::int64_t{7})}), pair = queue.dequeue_many(2)[0];
  const Output size = queue.size();
  Session earlier(job.tasks.server("worker", 1).target(), g),
      of_no_job(job.tasks.server("worker", 0).target(), g);
  earlier.set_fencing_epoch(1);
  of_no_job.run(std::vector<Output>{}, {}, {put});
  Status status;
  std::jthread waiting([&] { status = status_of([&] { earlier.run(pair); }); });
  while (of_no_job.run(size).scalar<std::int64_t>() != 0) std::this_thread::yield();
  BOOST_TEST(job.program(0).fence->raise(job.session(0)) == 2);
  waiting.join();
  check_fenced(status);
  BOOST_TEST(of_no_job.run(size).scalar<std::int64_t>() == 1);
  check_fenced(status_of([&] { earlier.run(pair); }));
}

// The step waits at a gate of another task, which is not fenced, between its start and its update.
BOOST_AUTO_TEST_CASE(a_gradient_on_its_way_while_the_epoch_is_raised_does_not_land) {
  Job job;
  Graph g;
  Variable w, begun, gate_step, gate_weight;
  g.on(ps, [&] {
    w = g.variable("w", g.constant(Tensor::of<float>({1}, {1.0F})));
    begun = g.variable("begun", g.constant(std::int64_t{0}));
  });
  const std::string gate = "/job:worker/task:1";
  g.on(gate, [&] {
    gate_step = g.variable("gate_step", g.constant(std::int64_t{0}));
    gate_weight = g.variable("gate_weight", g.constant(Tensor::of<float>({1}, {0.0F})));
  });
  const Output started = g.assign_add(begun, g.constant(std::int64_t{1}));
  const Attrs replica{{"replica", std::int64_t{0}},
                      {"total_num_replicas", std::int64_t{1}},
                      {"replicas_to_aggregate", std::int64_t{1}}};
  const Attrs sgd{{"optimizer", std::string("sgd")},
                  {"hyperparameters", std::vector<double>{0.5}},
                  {"skip_not_finite", false}};
  Attrs wait = replica;
  wait["variable"] = gate_step.name();
  wait["accumulators"] = std::int64_t{1};
  wait["initial_tokens"] = std::int64_t{0};
  const Output zero = g.constant(std::int64_t{0});
  const Output passed = g.on(gate, [&] {
    return g.after({started}, [&] { return g.add(take_token_op(), {zero, zero}, wait); });
  });
  Attrs update = sgd;
  update.merge(Attrs{{"variable", w.name()}, {"replica", std::int64_t{1}}, {"train_op", "train"}});
  const Output applied = g.on(ps, [&] {
    return g.after({passed}, [&] {
      return g.add(apply_gradient_op(),
                   {g.constant(Tensor::of<float>({1}, {1.0F})), g.constant(std::int64_t{-1})}, update);
    });
  });
  Attrs open = replica;
  open.merge(Attrs(sgd));
  open["variable"] = gate_weight.name();
  open["coordinator"] = gate;
  open["global_step"] = gate_step.name();
  const Output opened = g.on(gate, [&] {
    return g.add(accumulate_gradient_op(), {g.constant(Tensor::of<float>({1}, {1.0F})), zero, zero},
                 open);
  });
  Session late(job.tasks.server("worker", 1).target(), g);
  Session other(job.tasks.server("worker", 0).target(), g);
  late.initialize_variables();

  Status status;
  std::jthread step(
      [&] { status = status_of([&] { late.run(std::vector<Output>{}, {}, {applied}); }); });
  while (other.run(begun).scalar<std::int64_t>() == 0) std::this_thread::yield();
  job.program(0).fence->raise(job.session(0));
  job.restore();
  other.run(std::vector<Output>{}, {}, {opened});
  step.join();
  check_fenced(status);
  BOOST_TEST(job.weight() == 5.0F);
}

BOOST_AUTO_TEST_CASE(who_waits_at_a_barrier_is_told) {
  Job job(Synchronous{});
  job.make_current();
  Status waited;
  std::jthread early([&] { waited = status_of([&] { job.train(1, 100.0F); }); });
  job.program(0).fence->raise(job.session(0));
  early.join();
  check_fenced(waited);
}

BOOST_AUTO_TEST_CASE(gathered_gradients_and_barriers_start_anew) {
  Job job(Synchronous{});
  job.make_current();
  job.run(1, {job.program(1).accumulate()}, 100.0F);  // one of two
  job.program(0).fence->raise(job.session(0));
  job.program(1).fence->join(job.session(1));
  job.restore();
  job.make_current();
  std::int64_t other = 0;
  std::jthread replica([&] { other = job.train(1, 2.0F); });
  BOOST_TEST(job.train(0, 4.0F) == 11);
  replica.join();
  BOOST_TEST(other == 11);
  BOOST_TEST(job.weight() == 5.0F - 0.5F * 3.0F);  // the mean of 2 and 4 only
}

// A chief that was stopped while it saved comes back when another has taken over.
BOOST_AUTO_TEST_CASE(a_chief_of_an_older_epoch_saves_no_more) {
  MemoryStorage disk;
  LocalCluster tasks({{"ps", 1}, {"worker", 2}}, std::make_shared<ThreadedRuntime>(
                                                     RuntimeOptions{.num_threads = 2, .storage = &disk}));
  Program older(0, Asynchronous{}), newer(1, Asynchronous{});
  const Saver saver(older.g, {older.w, older.step}, older.step);
  const Saver other_saver(newer.g, {newer.w, newer.step}, newer.step);
  Session chief(tasks.server("worker", 0).target(), older.g);
  Session other(tasks.server("worker", 1).target(), newer.g);
  chief.initialize_variables();
  older.fence->raise(chief);
  saver.save(chief, disk, "run");

  newer.fence->raise(other);
  check_fenced(status_of([&] { saver.save(chief, disk, "run"); }));
  raise_folder_epoch(disk, "run", other.fencing_epoch() + 1);
  const Status refused = status_of([&] { other_saver.save(other, disk, "run"); });
  BOOST_TEST((refused.code == Code::aborted), refused.to_string());
  BOOST_TEST(refused.message.find("another chief has taken over") != std::string::npos, refused.message);
  BOOST_TEST(verify_checkpoint(disk, latest_checkpoint(disk, "run").value()).empty());

  disk.write_atomically("run/epoch", std::as_bytes(std::span(std::string_view("?"))));
  const Status damaged = status_of([&] { other_saver.save(other, disk, "run"); });
  BOOST_TEST((damaged.code == Code::data_loss), damaged.to_string());
  BOOST_TEST(damaged.message.find("'run/epoch'") != std::string::npos, damaged.message);

  Session of_no_chief(tasks.server("worker", 0).target(), older.g);
  saver.save(of_no_chief, disk, "run");
}

BOOST_AUTO_TEST_SUITE_END()
