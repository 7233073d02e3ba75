// Conditions of a simulated cluster, and what a test does at a time: when they are looked at, and what
// is said of those that do not hold.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "actors/actorflow.h"
#include "actors/simulation/simulation_test.h"
#include "dataflow/values/error.h"

BOOST_AUTO_TEST_SUITE(conditions)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

std::string error_of(const std::function<void()>& body, Code code) {
  try {
    body();
  } catch (const Error& error) {
    BOOST_TEST((error.code() == code), error.what());
    return error.what();
  }
  BOOST_ERROR("expected an error");
  return {};
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    BOOST_TEST(text.find(part) != std::string::npos, text << " lacks " << part);
}

// The programs of servers, which do not end.
void serve(SimTask& task) { task.server().join(); }

// Is true from 5 ms to 6 ms.
struct Blink {
  bool on = false;
  void operator()(SimTask& task) {
    task.sleep(5ms);
    on = true;
    task.sleep(1ms);
    on = false;
    task.sleep(1s);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(eventually_runs_until_the_condition_is_true) {
  bool done = false;
  SimCluster sim({{"worker", 1}}, {});
  auto run = sim.start([&](SimTask& task) {
    task.sleep(3s);
    done = true;
    task.sleep(10s);
  });
  const auto took = sim.eventually(
      "it is done", [&] { return done; }, 1min);
  BOOST_TEST((took >= 3s && took < 4s));
  BOOST_TEST((sim.elapsed() == took));
  BOOST_TEST((sim.eventually(
                  "it is done already", [&] { return done; }, 1min) == 0s));
  run.finish();
  BOOST_TEST((sim.elapsed() >= 13s));
}

BOOST_AUTO_TEST_CASE(what_does_not_become_true_is_named_with_what_the_tasks_do) {
  SimCluster sim({{"worker", 2}}, {});
  auto run = sim.start(serve);
  sim.at(2s).kill("/job:worker/task:1");
  sim.run_for(1s);
  const auto text = error_of(
      [&] {
        sim.eventually(
            "there is a leader", [] { return false; }, 4s);
      },
      Code::deadline_exceeded);
  expect_parts(text, {"'there is a leader' did not become true within 4 s, until 5.000000 s",
                      "/job:worker/task:0: is still running", "/job:worker/task:1: aborted",
                      "the world: 2s kill /job:worker/task:1"});
  BOOST_TEST((sim.elapsed() == 5s));  // no later event has happened
  expect_parts(error_of([&] { run.stop(); }, Code::aborted),
               {"/job:worker/task:1 failed: it was killed"});
}

BOOST_AUTO_TEST_CASE(an_invariant_is_checked_as_often_as_was_asked) {
  for (const bool each : {true, false}) {
    Blink blink;
    SimCluster sim({{"worker", 1}}, {});
    auto run = sim.start(std::ref(blink));
    sim.always(
        "it is dark", [&] { return !blink.on; },
        each ? SimCluster::each_event : SimCluster::now_and_then);
    if (!each) {
      run.finish();
      continue;
    }
    expect_parts(error_of([&] { run.finish(); }, Code::internal),
                 {"'it is dark' does not hold at 0.005", "it is false"});
  }
}

BOOST_AUTO_TEST_CASE(an_invariant_may_throw_and_holds_while_others_wait) {
  bool broken = false;
  SimCluster sim({{"worker", 1}}, {});
  auto run = sim.start(serve);
  sim.always("it is whole", [&] {
    if (broken) throw Error(Code::internal, "it is in two pieces");
  });
  sim.at(2s).call([&] { broken = true; });
  sim.run_for(1s);
  expect_parts(error_of(
                   [&] {
                     sim.eventually(
                         "nothing", [] { return false; }, 10s);
                   },
                   Code::internal),
               {"'it is whole' does not hold at ", "it is in two pieces"});
  broken = false;
  run.stop();
  broken = true;
  error_of([&] { run.stop(); }, Code::internal);
}

BOOST_AUTO_TEST_CASE(a_call_chooses_its_fault_by_what_has_happened) {
  int leader = -1;
  SimCluster sim({{"worker", 3}}, {});
  auto run = sim.start([&](SimTask& task) {
    if (task.server().name().index == 2) leader = 2;
    task.sleep(20s);
    return task.life();
  });
  sim.at(5s).call([&] {
    const std::string task = TaskName{"worker", leader}.to_string();
    sim.now().kill(task);
    sim.at(sim.elapsed() + 1s).restart(task);
  });
  BOOST_TEST(run.finish("/job:worker/task:2") == 2);
  BOOST_TEST(run.finish("/job:worker/task:1") == 1);
  BOOST_TEST(to_string(sim.faults()) == "5s kill /job:worker/task:2; 6s restart /job:worker/task:2");
}

BOOST_AUTO_TEST_CASE(what_a_call_throws_ends_the_run) {
  SimCluster sim({{"worker", 1}}, {});
  auto run = sim.start(serve);
  sim.at(1s).call([] { throw Error(Code::internal, "enough"); });
  expect_parts(error_of([&] { sim.run_for(1min); }, Code::internal), {"enough"});
  run.stop();
}

BOOST_AUTO_TEST_CASE(only_the_body_runs_the_cluster) {
  SimCluster sim({{"worker", 1}}, {});
  auto run = sim.start([&](SimTask& task) {
    task.sleep(1s);
    sim.run_for(1s);
  });
  expect_parts(error_of([&] { run.finish(); }, Code::failed_precondition),
               {"only the test's body may run it"});
}

BOOST_AUTO_TEST_CASE(what_has_failed_is_told_where_the_run_is_stopped) {
  SimCluster sim({{"worker", 2}}, {});
  auto run = sim.start([](SimTask& task) {
    if (task.server().name().index == 1) throw Error(Code::internal, "broken");
    task.server().join();
  });
  sim.run_for(1s);
  expect_parts(error_of([&] { run.stop(); }, Code::internal), {"/job:worker/task:1 failed: broken"});
}

BOOST_AUTO_TEST_CASE(time_that_stands_still_is_noticed) {
  struct Restless : NamedActor {
    struct Begin {};
    Restless() {
      on([this](const Begin&) { again(); });
    }
    void again() {
      after(0ms, [this] { again(); });
    }
  };
  SimCluster sim({{"worker", 1}}, {});
  auto run = sim.start([](SimTask& task) {
    task.server().spawn("restless", [] { return std::make_unique<Restless>(); });
    task.server().find(task.server().name().to_string(), "restless").tell(Restless::Begin{});
    task.server().join();
  });
  expect_parts(error_of([&] { run.finish(); }, Code::deadline_exceeded),
               {"the simulation stands still"});
}

BOOST_AUTO_TEST_SUITE_END()
