// Every handler of every actor throws once: nothing hangs, and training ends with the same weights.
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "actors/actorflow.h"
#include "actors/client/dataset_iterator.h"
#include "actors/simulation/sim_cluster.h"
#include "actors/strategies/distributed_optimizer.h"
#include "dataflow/ops/queue_ops.h"
#include "dataflow/ops/training_ops.h"
#include "kernels/ops.h"
#include "test/simulation/support/planted_throw.h"
#include "test/simulation/support/resumed_job.h"

BOOST_AUTO_TEST_SUITE(planted_throws)

using namespace actorflow;
using test::Kind, test::Plant, test::Where;
using namespace std::chrono_literals;

namespace {

const TaskName chief{"worker", 0};
const std::vector<TaskName> others{{"worker", 1}, {"worker", 2}};

Dataset four_numbers() {
  return Dataset::tensors({Tensor::of<std::int64_t>({4}, {0, 1, 2, 3})}).prefetch(2);
}

// A step that fails, as it does where nothing is planted. It says why: that may be what was planted.
void expect_failure(const std::function<void()>& step) {
  try {
    step();
    BOOST_ERROR("expected the step to fail");
  } catch (const Error& error) {
    spdlog::warn("a step that was to fail: {}", error.what());
  }
}

// What training does not use: inputs, queues, sessions of their own, what clients ask for. Inputs are
// read to their end: of an element that was computed ahead an error is told only to whoever asks for it.
void look_around(SimTask& task) {
  const TensorType number{DType::int64, {}};
  Server& server = task.server();
  server.serve_input("numbers", four_numbers());
  server.skip_input_to("numbers", 1);
  Graph g;
  Output put, take, held;
  g.on("/job:worker/task:0", [&] { held = iterator_get_next(g, "numbers", {number})[0]; });
  g.on("/job:ps/task:0", [&] {
    const Queue queue(g, QueueKind::fifo, {.name = "numbers", .components = {number}, .capacity = 4});
    put = queue.enqueue({held});
    take = queue.dequeue()[0];
  });
  Session session(server.target(), g, {.isolate = true});
  session.devices();
  session.placement();
  const auto enqueue = [&] { session.run(std::vector<Output>{}, {}, {put}); };
  for (int elements = 0; elements < 3; ++elements) enqueue();
  expect_failure(enqueue);
  for (const std::int64_t element : {1, 2, 3})
    BOOST_TEST(session.run(take).scalar<std::int64_t>() == element);
  expect_failure([&] { session.run(take, {}, {.timeout_ms = 100, .trace = true}); });
  session.close();
  Session::reset(server.target(), {"old"});
  server.held();
  DatasetIterator numbers(server, four_numbers());
  numbers.skip_to(2);
  for (const std::int64_t element : {2, 3})
    BOOST_TEST(numbers.next()[0].scalar<std::int64_t>() == element);
  expect_failure([&] { numbers.next(); });
}

struct Ask {
  bool late;
};
struct Said {
  std::int64_t value;
};

// An actor of the program's own, which asks itself and answers late.
class Asker final : public NamedActor {
 public:
  Asker() {
    on([this](const Ask& question, ActorReply<Said> reply) {
      if (!question.late) return after(1s, [reply] { reply.send({2}); });
      ask<Said>(task().to_string(), "asker", Ask{false},
                [reply](const Status& status, const Said& said) {
                  status.ok() ? reply.send(said) : reply.fail(status);
                });
    });
  }
};

ActorRef asker_of(Server& server) {
  server.spawn("asker", [] { return std::make_unique<Asker>(); });
  return server.find(server.name().to_string(), "asker");
}

void ask_an_actor(const ActorRef& asker) {
  BOOST_TEST(asker.ask<Said>(Ask{true}).get().value == 2);
  asker.tell(Ask{false});
  asker.drain();
}

// A step that waits for two minutes: the rendezvous looks around once a minute.
void wait_in_vain(Server& server) {
  const TensorType number{DType::int64, {}};
  Graph g;
  Output take, taken;
  g.on("/job:ps/task:0", [&] {
    take =
        Queue(g, QueueKind::fifo, {.name = "empty", .components = {number}, .capacity = 1}).dequeue()[0];
  });
  g.on("/job:worker/task:0", [&] { taken = take + g.constant(std::int64_t{1}); });
  Session session(server.target(), g);
  expect_failure([&] { session.run(taken, {}, {.timeout_ms = 150'000}); });
}

// The steps of a job whose replicas have ended, and which nobody ends within the limit.
void hold_in_vain(Server& server) {
  Graph g;
  const Output held = g.on("/job:ps/task:0", [&] {
    return g.add(hold_steps_op(), {g.constant(Tensor::zeros(DType::int64, {0}))},
                 {{"variable", std::string("global_step")}, {"limit_ms", std::int64_t{100}}});
  });
  Session session(server.target(), g);
  BOOST_TEST(session.run(held).scalar<std::int64_t>() ==
             static_cast<std::int64_t>(HoldAnswer::too_late));
}

// Fits w to 3 with two parameter servers and three synchronous workers. Returns w.
float fit(SimTask& task, Executor executor) {
  Server& server = task.server();
  if (server.name().job == "ps") return server.join(), 0.0F;
  const bool is_chief = server.name() == chief;
  if (is_chief) look_around(task);
  const ActorRef asker = asker_of(server);
  Graph g;
  Variable w;
  TrainOp train;
  g.on(replica_device_setter(2, "ps", server.name().to_string()), [&] {
    const Variable step = global_step(g);
    w = g.variable("w", g.constant(0.0F));
    g.variable("ballast", fill(g, {600'000}, 1));  // so that a checkpoint is written piece by piece
    train = minimize(g, square(w - g.constant(3.0F)), {w}, step, Momentum{0.05, 0.5},
                     {.replica = server.name().index, .replicas = 3, .strategy = Synchronous{}});
  });
  MonitoredOptions options;
  options.is_chief = is_chief;
  options.checkpoint_dir = "checkpoints";
  options.save_checkpoint = {.steps = 10};
  options.hooks = {stop_at_step(40), sync_replicas(train)};
  options.session.executor = executor;
  MonitoredSession session(server, g, options);
  while (!session.should_stop()) session.run(train);
  ask_an_actor(asker);
  if (!is_chief) {
    do server.announce_done(chief);
    while (!server.join_for(500));
    return 0.0F;
  }
  server.wait_until_done(others, 60'000);
  hold_in_vain(server);
  wait_in_vain(server);
  session.close();
  const float result = session.session().run(w).scalar<float>();
  server.shutdown_cluster("w has been fitted");
  server.stop("w has been fitted");
  return result;
}

// Fits w to 3 with three workers that have all variables, the slots of which are divided between them.
float fit_by_all_reduce(SimTask& task) {
  Server& server = task.server();
  const bool is_chief = server.name() == chief;
  Graph g;
  Variable w;
  DistributedTrainOp train;
  DistributedOptimizer optimizer(server, Momentum{0.05, 0.5}, {.buckets = {.sharded_optimizer = true}});
  g.on(optimizer.device(), [&] {
    const Variable step = global_step(g);
    w = g.variable("w", g.constant(Tensor{0.0F, 0.0F}));
    train = optimizer.minimize(g, sum(square(w - g.constant(3.0F))), {w}, step);
  });
  MonitoredOptions options;
  options.checkpoint_dir = "checkpoints";
  options.save_checkpoint = {.steps = 10};
  options.hooks = {stop_at_step(40)};
  MonitoredSession session(server, g, optimizer.monitored(train, options));
  while (!session.should_stop()) session.run(train.step);
  if (!is_chief) {
    do server.announce_done(chief);
    while (!server.join_for(500));
    return 0.0F;
  }
  server.wait_until_done(others, 60'000);
  session.close();
  const float result = session.session().run(w).values<float>()[1];
  server.shutdown_cluster("w has been fitted");
  server.stop("w has been fitted");
  return result;
}

// What a program calls itself. Ranks may fail in different calls: each does it once.
float call_operations(SimTask& task) {
  {
    const Communicator world(task.server(), {.timeout = 5s});
    world.all_reduce(Tensor{1.0F}, {.name = "x"});
    world.all_reduce(Tensor{1.0F}, {.name = "x"});
    world.join();
  }
  task.sleep(1s);
  return 1;
}

struct Outcome {
  float w = 0;
  std::vector<std::string> heard;  // why programs and tasks ended, and what was logged of losses
};

// Notes the warnings of all tasks.
class Warnings final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit Warnings(std::vector<std::string>& lines) : lines_(lines) { set_level(spdlog::level::warn); }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    lines_.emplace_back(message.payload.begin(), message.payload.end());
  }
  void flush_() override {}

 private:
  std::vector<std::string>& lines_;
};

// REQUIRES: a simulated cluster, whose log this is, ends before the lines.
void note_warnings(std::vector<std::string>& lines) {
  spdlog::default_logger()->sinks().push_back(std::make_shared<Warnings>(lines));
}

using Fit = std::function<float(SimTask&)>;

// A program that notes why it fails.
auto noting(std::vector<std::string>& errors, const Fit& fit) {
  return [&errors, &fit](SimTask& task) {
    try {
      return fit(task);
    } catch (const Error& error) {
      errors.push_back(error.what());
      throw;
    }
  };
}

// While a parameter server, if there is one, and a worker, if it is said when, are killed and come back.
Outcome train(std::uint64_t seed, int ps, std::chrono::milliseconds lose_worker_at, const Fit& fit) {
  std::vector<SimCluster::Job> jobs{{"worker", 3}};
  if (ps > 0) jobs.insert(jobs.begin(), {"ps", ps});
  std::vector<std::string> errors;
  SimCluster sim(jobs, {.seed = seed, .longest_kernel = 1ms, .time_limit = 15min, .restart_failed = 1s});
  note_warnings(errors);
  auto run = sim.start(noting(errors, fit));
  if (ps > 0) {
    sim.at(300ms).kill("/job:ps/task:0");
    sim.at(2s).restart("/job:ps/task:0");
  }
  if (lose_worker_at > 0ms) {
    sim.at(lose_worker_at).kill("/job:worker/task:1");
    sim.at(lose_worker_at + 1s).restart("/job:worker/task:1");
  }
  Outcome outcome{run.finish("/job:worker/task:0"), errors};
  for (auto& reason : sim.statistics().ends) outcome.heard.push_back(std::move(reason));
  return outcome;
}

// A map/reduce job of three tasks with a journal, one of which is killed and comes back. 1: its files
// are those of a job that nothing disturbs.
Outcome count_words() {
  std::vector<std::string> errors;
  test::ResumeTally tally;
  const Fit job = [&tally](SimTask& task) { return test::resume_job(task, tally), 0.0F; };
  SimCluster sim({{"local", 3}},
                 {.seed = 1, .longest_kernel = 4ms, .time_limit = 15min, .restart_failed = 1s});
  note_warnings(errors);
  auto run = sim.start(noting(errors, job));
  sim.at(20ms).kill("/job:local/task:2");
  sim.at(60ms).restart("/job:local/task:2");
  run.finish("/job:local/task:0");
  const bool same = test::output_of(sim) == test::undisturbed_words();
  Outcome outcome{same ? 1.0F : 0.0F, errors};
  for (auto& reason : sim.statistics().ends) outcome.heard.push_back(std::move(reason));
  return outcome;
}

bool names(const Outcome& outcome, const std::string& cause) {
  return std::ranges::any_of(outcome.heard, [&cause](const std::string& text) {
    return text.find(cause) != std::string::npos;
  });
}

// Handlers that lose nothing which anybody would hear of. Any handler may do so at its end: what it was
// to do is done, and whoever has an answer takes no other.
bool may_be_unheard(const Where& where) {
  static constexpr std::array<std::string_view, 7> handlers{
      "/Census",        // the counts that a test asks for
      "/GiveUp",        // a step that has failed already
      "/StillWaiting",  // a line of the log
      "/Leave",         // a connection that ends with it
      "/AwaitHeard",    // a task that ends, which then waits for nobody
      // A step that a parameter server begins before it is asked for. The master gives it up, and begins
      // it anew when the client asks; the client hears of it only if it has asked already.
      "parameter-shard/AwaitUpdates",
      "worker/UpdatesMade",
  };
  // Their first call is heard of: it belongs to a step that was asked for, or to an answer.
  static constexpr std::array<std::string_view, 6> later{
      "/StartStep",  // of a step that is begun so
      // Of a question whether the chief is ready, asked again and again while another task is away,
      // which is the error that counts.
      "worker/RegisterGraph",
      "node-actor/OpenFrame",
      "rendezvous/AwaitTensor",
      // One that says that messages were handled has no content to lose; ActorRef::drain() goes on.
      "switchboard/ActorMessage",
      "client-caller/ActorMessage",
  };
  const auto ends_so = [&where](std::string_view end) { return where.handler.ends_with(end); };
  return where.after || std::ranges::any_of(handlers, ends_so) ||
         (where.occurrence > 1 && std::ranges::any_of(later, ends_so));
}

using Train = std::function<Outcome()>;

void expect_the_same(const Where& where, const Train& train, float undisturbed) {
  const std::string place = where.handler + (where.after ? " at its end, " : ", ") + "time " +
                            std::to_string(where.occurrence);
  Plant plant(where);
  try {
    const Outcome outcome = train();
    BOOST_TEST(outcome.w == undisturbed, place << ": w is " << outcome.w << ", not " << undisturbed);
    BOOST_TEST((names(outcome, plant.cause()) || may_be_unheard(where)),
               place << ": nobody says " << plant.cause()
                     << ", but: " << (outcome.heard.empty() ? "" : outcome.heard[0]));
  } catch (const Error& error) {
    BOOST_ERROR(place << ": " << error.what());
  }
  BOOST_TEST(plant.thrown(), place << ": nothing was thrown");
}

bool is_of_jobs(std::string_view handler) {
  return std::ranges::any_of(std::array{"job-agent/", "job-coordinator/", "job-journal/", "slices/",
                                        "part/", "switchboard/UnregisterActor"},
                             [handler](const char* role) { return handler.starts_with(role); });
}

// Ranks alone speak to incarnations.
bool is_of_collectives(std::string_view handler) {
  return handler.starts_with("collectives/") || handler == "peer/ForIncarnation" ||
         handler == "peer/StillThere";
}

// Handlers of jobs whose answer is the last that they do: it throws, or has been given.
bool ends_with_its_answer(std::string_view handler) {
  return handler == "part/Tick" || handler == "part/CommitAttempt";
}

// Lets each handler that `chosen` takes throw, at its beginning and at its end. Returns how many.
std::size_t throw_in_handlers(const Train& train, const std::function<bool(std::string_view)>& chosen) {
  float undisturbed = 0;
  std::map<std::string, std::uint64_t> handlers;
  {
    const Plant nothing;
    undisturbed = train().w;
    handlers = nothing.seen();
  }
  // Links have no limits here: apps/planted_throws has what they could not carry. What runs while a job
  // ends is in throws_at_the_end.cpp: a task that comes back here finds a cluster that is not there. Nor
  // does a task end here that has never reached another one (actors/silent_task.cpp), only gradients
  // on a GPU are held, and nobody records a task (actors/recorded_job.cpp).
  for (const char* elsewhere :
       {"worker/Undelivered", "master/StopSteps", "coordinator/JobOver", "collectives/JobOver",
        "peer/FarewellIsOver", "parameter-shard/ApplyHeld", "worker/StateCall", "worker/EndOfRecord"})
    handlers.erase(elsewhere);
  // For the same reason only the first one, which comes while there is training.
  auto& losses = handlers["collectives/PeerLost"];
  losses = std::min<std::uint64_t>(losses, 1);
  // This training has no collective operations, and a short job takes nothing back.
  std::erase_if(handlers, [](const auto& entry) {
    return entry.second == 0 && (is_of_collectives(entry.first) || is_of_jobs(entry.first));
  });
  std::erase_if(handlers, [&chosen](const auto& entry) { return !chosen(entry.first); });
  std::size_t runs = 0;
  for (const auto& [handler, times] : handlers) {
    BOOST_TEST(times > 0, handler << " never runs here");
    for (const bool after : {false, true})
      for (const std::uint64_t occurrence : std::set<std::uint64_t>{1, times / 2 + 1})
        if (occurrence <= times && !(after && ends_with_its_answer(handler)))
          expect_the_same({handler, after, occurrence, static_cast<Kind>(runs++ % 3)}, train,
                          undisturbed);
  }
  return handlers.size();
}

Train with_servers(Executor executor) {
  return
      [executor] { return train(1, 2, 4s, [executor](SimTask& task) { return fit(task, executor); }); };
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_handler_may_throw_and_training_ends_with_the_same_weights) {
  BOOST_TEST(throw_in_handlers(with_servers(Executor::lanes), [](std::string_view) { return true; }) >
             50u);
}

BOOST_AUTO_TEST_CASE(every_handler_of_collective_operations_may_throw_and_ranks_learn_the_same) {
  const auto together = [] { return train(1, 0, 60ms, fit_by_all_reduce); };
  BOOST_TEST(throw_in_handlers(together, is_of_collectives) > 4u);
}

BOOST_AUTO_TEST_CASE(a_handler_that_throws_is_named_to_whoever_calls_collective_operations) {
  const auto once = [] {
    Outcome outcome =
        train(1, 0, 0ms, [](SimTask& task) { return task.life() > 1 ? 1.0F : call_operations(task); });
    return outcome;
  };
  BOOST_TEST(throw_in_handlers(once, is_of_collectives) > 4u);
}

BOOST_AUTO_TEST_CASE(every_handler_of_a_job_may_throw_and_its_files_are_the_same) {
  test::undisturbed_words();  // which no handler is to count
  BOOST_TEST(throw_in_handlers(count_words, is_of_jobs) > 20u);
}

BOOST_AUTO_TEST_CASE(so_may_every_handler_of_nodes_that_are_actors) {
  const auto of_nodes = [](std::string_view handler) {
    return handler.starts_with("conductor/") || handler.starts_with("node-actor/");
  };
  BOOST_TEST(throw_in_handlers(with_servers(Executor::node_actors), of_nodes) == 8u);
}

BOOST_AUTO_TEST_SUITE_END()
