// Collective operations while messages are late, lost or repeated, and tasks stop or die: every sum has
// the bits of a serial loop, or all ranks get an error; nobody waits for ever.
#include <boost/test/unit_test.hpp>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "actors/client/session.h"
#include "actors/simulation/simulation_test.h"
#include "dataflow/ops/collective_ops.h"
#include "test/simulation/support/ranks_job.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(collectives)

using namespace actorflow;
using namespace std::chrono_literals;
using test::job_of_seed, test::RanksJob, test::RanksSeen, test::says, test::simulate_ranks;

namespace {

using enum FaultKind;

RanksJob job_of_this_seed() { return job_of_seed(of_this_seed({}).seed); }

constexpr int size = 3, graph_steps = 15;

// Runs steps until so many have succeeded; each of them has the serial sum on every rank.
void run_graph(SimTask& task) {
  const RankList ranks{{"/job:worker/task:0", "/job:worker/task:1", "/job:worker/task:2"}};
  Graph g;
  std::vector<Output> sums;
  for (int rank = 0; rank < size; ++rank)
    sums.push_back(g.on(ranks.tasks[static_cast<std::size_t>(rank)], [&] {
      return all_reduce(g.constant(test::contribution<float>(rank, {500})), ranks, "x");
    }));
  std::optional<Session> session;
  for (int succeeded = 0; succeeded < graph_steps;) try {
      if (!session) session.emplace(task.server().target(), g);
      for (const auto& sum : session->run(sums))
        if (!identical(sum, test::serial<float>(size, {500}))) throw std::logic_error("a wrong sum");
      ++succeeded;
      task.sleep(70ms);
    } catch (const Error& error) {
      if (error.code() != Code::unavailable && error.code() != Code::aborted) throw;
      session.reset();
      task.sleep(100ms);
    }
}

// Each rank is a program with a graph of its own, and has another number of steps in each of the epochs,
// at whose end all meet. A rank adds the number of those that still have steps.
void run_epochs(SimTask& task, int& meetings) {
  const int rank = task.server().name().index;
  Graph g;
  const auto [sum, last, met] = g.on(task.server().name().to_string(), [&] {
    const RankList ranks{{"/job:worker/task:0", "/job:worker/task:1", "/job:worker/task:2"}};
    return std::tuple{all_reduce(g.constant(1.0F), ranks, "there"), join(g, ranks, "end"),
                      barrier(g, ranks, "next epoch")};
  });
  Session session(task.server().target(), g);
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (int step = 0; step <= (rank + epoch) % size; ++step)
      if (session.run(sum).scalar<float>() != static_cast<float>(size - step))
        throw std::logic_error("a wrong sum with zeros");
    if (session.run(last).scalar<std::int64_t>() >= size) throw std::logic_error("no rank joins last");
    ++meetings;
    session.run({}, {}, {met});
    if (meetings < size * (epoch + 1)) throw std::logic_error("a barrier did not wait for all ranks");
  }
}

void sum_without_host_b(SimTask& task) {
  const Communicator rest(task.server(),
                          {.group = "rest",
                           .members = {"/job:worker/task:0", "/job:worker/task:1", "/job:worker/task:5"},
                           .hosts = {"a", "a", "c"},
                           .algorithm = Algorithm::hierarchical});
  for (int use = 0; use < 3; ++use)
    if (!identical(rest.all_reduce(test::contribution<float>(rest.rank(), {20'000}, use)),
                   test::serial<float>(3, {20'000}, use)))
      throw std::logic_error("a wrong sum of the ranks that are left");
}

}  // namespace

SIMULATION_TEST(every_algorithm_gives_the_serial_sum, seeds(1, 48)) {
  const RanksSeen seen = simulate_ranks(job_of_this_seed(), {});
  BOOST_TEST(seen.failed.empty());
}

SIMULATION_TEST(a_bad_network_changes_no_bit, seeds(1, 50)) {
  const RanksSeen seen = simulate_ranks(job_of_this_seed(), {delay, slow, lossy, duplicate, late});
  BOOST_TEST(seen.failed.empty());
}

SIMULATION_TEST(a_rank_that_dies_or_is_cut_off_is_an_error_everywhere_and_never_a_hang, seeds(1, 50)) {
  RanksJob job = job_of_this_seed();
  job.may_fail = true;
  simulate_ranks(job,
                 {kill, kill, FaultKind::pause, partition, delay, slow, lossy, duplicate, late, power});
}

// In the middle of sums that travel from host to host.
SIMULATION_TEST(the_others_go_on_without_a_host_that_dies, seeds(1, 20)) {
  const RanksJob job{.ranks = 6,
                     .algorithm = Algorithm::hierarchical,
                     .hosts = {"a", "a", "b", "b", "b", "c"},
                     .steps = 1000,
                     .may_fail = true};
  const SimOptions options = of_this_seed({.time_limit = 10min});
  RanksSeen seen;
  SimCluster sim({{"worker", job.ranks}}, options);
  auto run = sim.start([&](SimTask& task) {
    test::run_rank(task, job, options.seed, seen);
    if (task.life() == 1) sum_without_host_b(task);
  });
  const auto when = 20ms + std::chrono::milliseconds(options.seed);
  for (const auto* task : {"/job:worker/task:2", "/job:worker/task:3", "/job:worker/task:4"}) {
    sim.at(when).kill(task);
    sim.at(when + 1s).restart(task);
  }
  run.finish();
  BOOST_TEST((seen.failed == std::set{0, 1, 5}));
  BOOST_TEST(seen.results > 0);
}

// Whoever hears of it ends at once, so that its own loss is the next news of those who have not heard.
SIMULATION_TEST(every_survivor_names_the_rank_that_was_killed, seeds(1, 40)) {
  std::vector<std::string> errors;
  SimCluster sim({{"worker", 4}}, of_this_seed({.time_limit = 2min}));
  auto run = sim.start([&](SimTask& task) {
    if (task.life() > 1) return;
    Clock& clock = task.server().runtime()->clock();
    auto last = clock.now();
    try {
      const Communicator world(task.server());
      for (;; last = clock.now()) {
        world.all_reduce(test::contribution<float>(world.rank(), {100}), {.name = "x"});
        task.sleep(1ms);
      }
    } catch (const Error& error) {
      errors.emplace_back(error.what());
      BOOST_TEST((clock.now() - last < 2s), "a broken connection is noticed at once");
    }
  });
  sim.at(50ms).kill("/job:worker/task:2");
  sim.at(30s).restart("/job:worker/task:2");
  run.finish();
  BOOST_TEST(errors.size() == 3U);
  for (const auto& error : errors)
    BOOST_TEST(error.find("rank 2 (/job:worker/task:2) is lost") != std::string::npos, error);
}

// Rank 3 never comes. Rank 0 tells the others, to which it may have no connection yet, and ends at once;
// one of them may be stopped meanwhile.
SIMULATION_TEST(a_rank_that_is_killed_while_the_group_opens_is_named_by_all_others, seeds(1, 40)) {
  const SimOptions options = of_this_seed({.time_limit = 2min});
  std::vector<std::string> errors;
  SimCluster sim({{"worker", 4}}, options);
  auto run = sim.start([&](SimTask& task) {
    if (task.life() > 1 || task.server().name().index == 3) return;
    try {
      const Communicator world(task.server());
    } catch (const Error& error) {
      errors.emplace_back(error.what());
    }
  });
  sim.at(50ms).kill("/job:worker/task:1");
  if (options.seed % 2 == 0) sim.at(49ms).pause("/job:worker/task:2", 1s);
  sim.at(30s).restart("/job:worker/task:1");
  run.finish();
  BOOST_TEST(errors.size() == 2U);
  for (const auto& error : errors)
    BOOST_TEST(error.find("rank 1 (/job:worker/task:1) is lost") != std::string::npos, error);
}

// More new names than a rank keeps, and some of the old ones again, which the ranks have forgotten at
// different times: each begins a batch elsewhere.
SIMULATION_TEST(names_that_ranks_have_forgotten_are_agreed_on_anew, seeds(1, 3)) {
  constexpr int at_once = 600, batches = 18, ranks = 3;
  const SimOptions options = of_this_seed({.time_limit = 10min});
  SimCluster sim({{"worker", ranks}}, options);
  auto run = sim.start([&](SimTask& task) {
    const Communicator world(task.server());
    for (int batch = 0; batch < batches; ++batch) {
      std::vector<CollectiveHandle> sums;
      for (int i = 0; i < at_once; ++i) {
        const int place = (i + world.rank() * at_once / ranks) % at_once;
        const bool again = place % 6 == 0 && batch > 0;
        const int name = (again ? place * 7 % batch : batch) * at_once + place;
        sums.push_back(world.all_reduce_async(Tensor{name}, {.name = std::to_string(name)}));
      }
      for (int i = 0; i < at_once; ++i) {
        const int sum = sums[static_cast<std::size_t>(i)].wait().values<std::int32_t>()[0];
        if (sum % ranks != 0 || sum / ranks % at_once != (i + world.rank() * at_once / ranks) % at_once)
          throw std::logic_error("a wrong sum");
      }
    }
  });
  sim.apply(random_fault_plan(
      options.seed, {{"worker", 0}, {"worker", 1}, {"worker", 2}},
      {.count = 8, .until = 2s, .longest = 1s, .kinds = {delay, slow, duplicate, late}}));
  run.finish();
}

// They leave one after the other, soon enough that some words of those who leave first are still on
// their way, or late enough that those have gone.
SIMULATION_TEST(a_rank_that_leaves_last_does_not_call_those_who_have_gone, seeds(1, 40)) {
  const auto options = of_this_seed({.time_limit = 2min});
  const int ranks = options.seed % 4 == 0 ? 20 : 2 + static_cast<int>(options.seed % 7);
  const auto apart = std::chrono::microseconds(10 << options.seed % 11);
  SimCluster sim({{"worker", ranks}}, options);
  auto run = sim.start([apart](SimTask& task) {
    const Communicator world(task.server());
    world.all_reduce(Tensor{1}, {.name = "x"});
    world.barrier();
    task.sleep(world.rank() * apart);
  });
  run.finish();
  BOOST_TEST((sim.statistics().simulated < 1500ms));  // its last words would be given up after 2 s
}

SIMULATION_TEST(nodes_of_graphs_go_on_after_a_rank_was_lost, seeds(1, 30)) {
  const SimOptions options = of_this_seed({.time_limit = 10min});
  SimCluster sim({{"worker", size}}, options);
  bool over = false;
  auto run = sim.start([&over](SimTask& task) {
    if (task.server().name().index == 0) {
      run_graph(task);
      over = true;
    }
    while (!over) task.sleep(100ms);
  });
  sim.apply(random_fault_plan(
      options.seed, {{"worker", 1}, {"worker", 2}},
      {.count = 4, .until = 1s, .longest = 3s, .kinds = {kill, lossy, duplicate, late, slow}}));
  run.finish();
}

SIMULATION_TEST(nodes_join_and_meet_on_a_bad_network, seeds(1, 30)) {
  const SimOptions options = of_this_seed({.time_limit = 10min});
  SimCluster sim({{"worker", size}}, options);
  int meetings = 0;
  auto run = sim.start([&meetings](SimTask& task) { run_epochs(task, meetings); });
  sim.apply(random_fault_plan(
      options.seed, {{"worker", 0}, {"worker", 1}, {"worker", 2}},
      {.count = 4, .until = 100ms, .longest = 2s, .kinds = {delay, slow, lossy, duplicate, late}}));
  run.finish();
  BOOST_TEST(meetings == 4 * size);
}

// Of links that take 100 to 150 us and carry 1.25 GB/s. The ranks know of two hosts.
SIMULATION_TEST(all_ranks_know_the_costs_that_rank_0_has_measured, seeds(1, 10)) {
  std::vector<CostModel> costs;
  const auto run_once = [&] {
    SimCluster sim({{"worker", 3}}, of_this_seed({.time_limit = 1min}));
    auto run = sim.start([&](SimTask& task) {
      const Communicator world(task.server(), {.hosts = {"a", "a", "b"}});
      costs.push_back(world.costs());
      world.barrier();
    });
    run.finish();
  };
  run_once();
  run_once();
  BOOST_REQUIRE(costs.size() == 6U);
  for (const auto& of_rank : costs)
    BOOST_TEST((of_rank == costs[0]), "or a run of the same seed differs");
  for (const LinkCost& link : {costs[0].host, costs[0].network}) {
    BOOST_TEST(link.latency > 50e-6);
    BOOST_TEST(link.latency < 400e-6);
    BOOST_TEST(link.per_byte + link.per_byte_of_port > 0.4e-9);
    BOOST_TEST(link.per_byte + link.per_byte_of_port < 4e-9);
  }
}

// What the tasks said is a part of the error of the run.
SIMULATION_TEST(every_rank_says_who_lacks_what_and_what_it_did_last, seeds(1, 5)) {
  const auto stall = [] {
    SimCluster sim({{"worker", 3}}, of_this_seed({.time_limit = 2min}));
    auto run = sim.start([](SimTask& task) {
      const Communicator world(task.server());
      world.all_reduce(Tensor{1}, {.name = "before"});
      if (world.rank() == 1) {
        task.sleep(11s);
        throw Error(Code::internal, "enough");
      }
      world.all_reduce(Tensor{1}, {.name = "the stalled one"});
    });
    run.finish();
  };
  const auto every_rank = [](const Error& error) {
    return says(
               "/job:worker/task:0: all_reduce int32[1] sum 'the stalled one' has waited for 9 s; rank "
               "1 "
               "(/job:worker/task:1) has not called it: it finished all_reduce 'before'")(error) &&
           says("/job:worker/task:2: all_reduce int32[1] sum 'the stalled one' has waited")(error) &&
           says("/job:worker/task:1: rank ")(error) &&
           says("which rank 1 (/job:worker/task:1) has not called; it finished all_reduce 'before'")(
               error);
  };
  BOOST_CHECK_EXCEPTION(stall(), Error, every_rank);
}

// Ranks 0 and 2 wait for rank 1, rank 3 is stopped, and everybody else asks at once, though messages
// come twice and late.
SIMULATION_TEST(whoever_asks_gets_the_same_answer, seeds(1, 20)) {
  std::vector<GroupWaits> answers;
  SimCluster sim({{"worker", 4}}, of_this_seed({.time_limit = 2min}));
  auto run = sim.start([&answers](SimTask& task) {
    const Communicator world(task.server());
    world.all_reduce(Tensor{1}, {.name = "before"});
    std::optional<CollectiveHandle> sum;
    if (world.rank() == 0 || world.rank() == 2)
      sum = world.all_reduce_async(Tensor{1}, {.name = "the stalled one"});
    task.sleep(1500ms);
    if (world.rank() != 3) answers.push_back(world.waits());
    task.sleep(5s);
    if (!sum) sum = world.all_reduce_async(Tensor{1}, {.name = "the stalled one"});
    sum->wait();
    world.barrier();
  });
  sim.apply(random_fault_plan(of_this_seed({}).seed, {{"worker", 0}, {"worker", 1}, {"worker", 2}},
                              {.count = 2, .until = 100ms, .longest = 1s, .kinds = {duplicate, late}}));
  sim.at(1s).pause("/job:worker/task:3", 4s);
  run.finish();
  BOOST_REQUIRE(answers.size() == 3U);
  for (const auto& answer : answers) {
    BOOST_REQUIRE(answer.operations.size() == 1U);
    BOOST_TEST(answer.operations[0].name == "the stalled one");
    BOOST_TEST(answer.operations[0].call == "all_reduce int32[1] sum");
    BOOST_TEST((answer.operations[0].waiting == std::vector<std::int32_t>{0, 2}));
    BOOST_TEST((answer.operations[0].missing == std::vector<std::int32_t>{1}));
    BOOST_TEST(answer.last[1].starts_with("it finished all_reduce 'before'"), answer.last[1]);
    BOOST_TEST(answer.last[3] == "it does not answer");
  }
}

BOOST_AUTO_TEST_SUITE_END()
