// Faults of one link, one direction, one task's disk, one clock: they meet what they are aimed at, and
// nothing else.
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "actors/actorflow.h"
#include "actors/simulation/sim_storage.h"
#include "actors/simulation/simulation_test.h"
#include "dataflow/values/error.h"

BOOST_AUTO_TEST_SUITE(aimed_faults)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

struct Ping {};
struct Pong {};

class Echo final : public NamedActor {
 public:
  Echo() {
    on([](const Ping&) { return Pong{}; });
  }
};

Clock::time_point now(SimTask& task) { return task.server().runtime()->clock().now(); }

// How long task 0 waits for an answer of each of the others, from 10 s on.
std::map<int, std::chrono::nanoseconds> round_trips(SimCluster& sim) {
  std::map<int, std::chrono::nanoseconds> took;
  auto run = sim.start([&](SimTask& task) {
    Server& server = task.server();
    server.spawn("echo", [] { return std::make_unique<Echo>(); });
    if (server.name().index > 0) return task.sleep(1min);
    for (int other = 1; other < 3; ++other) {
      const ActorRef echo = server.find(TaskName{"worker", other}.to_string(), "echo");
      echo.wait_until_there();
      task.sleep(10s * other - sim.elapsed());
      const auto asked = now(task);
      echo.ask<Pong>(Ping{}, 20s).get();
      took[other] = now(task) - asked;
    }
    task.sleep(1min - sim.elapsed());
  });
  run.finish();
  return took;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// "" if the file could be written.
std::string error_of_writing(SimTask& task, const std::string& path) {
  try {
    task.storage().write_atomically(path, bytes_of("text"));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// Two tasks that write for so long, each a file: what became of that, and how long it took.
struct Written {
  std::string error[2];
  std::chrono::nanoseconds took[2];
};
Written written_under(FaultKind kind) {
  Written written;
  SimCluster sim({{"worker", 2}}, {});
  auto run = sim.start([&](SimTask& task) {
    const auto index = static_cast<std::size_t>(task.server().name().index);
    task.sleep(1s);
    const auto began = now(task);
    for (int i = 0; i < 20 && written.error[index].empty(); ++i)
      written.error[index] = error_of_writing(task, "file of " + std::to_string(index));
    written.took[index] = now(task) - began;
  });
  sim.at(0s).fault(kind, "/job:worker/task:1", 1min);
  run.finish();
  return written;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_link_is_slow_and_others_are_not) {
  SimCluster sim({{"worker", 3}}, {});
  sim.at(5s).delay("/job:worker/task:1", "/job:worker/task:0", 1s, 30s);
  const auto took = round_trips(sim);
  BOOST_TEST((took.at(1) >= 2s && took.at(1) < 3s));
  BOOST_TEST((took.at(2) < 100ms));
}

BOOST_AUTO_TEST_CASE(delays_add_up_and_end) {
  SimCluster sim({{"worker", 3}}, {});
  sim.at(5s).fault(FaultKind::delay, 10s);  // of all: 200 ms each way
  sim.at(5s).fault(FaultKind::delay, "/job:worker/task:0", 10s);
  const auto took = round_trips(sim);
  BOOST_TEST((took.at(1) >= 800ms && took.at(1) < 1s));
  BOOST_TEST((took.at(2) < 100ms));
}

BOOST_AUTO_TEST_CASE(a_link_loses_messages) {
  SimCluster sim({{"worker", 3}}, {});
  sim.at(0s).fault(FaultKind::lossy, "/job:worker/task:0", "/job:worker/task:1", 1min);
  BOOST_TEST(to_string(sim.faults()) == "0s lossy /job:worker/task:0 /job:worker/task:1 for 60s");
  round_trips(sim);
}

// The question of 10 s waits until 12.5 s; those of the other tasks do not.
BOOST_AUTO_TEST_CASE(one_way_is_closed_and_the_other_is_open) {
  for (const bool there : {true, false}) {
    SimCluster sim({{"worker", 3}}, {});
    const char* const asker = "/job:worker/task:0";
    const char* const asked = "/job:worker/task:1";
    sim.at(9500ms).partition_oneway(there ? asker : asked, there ? asked : asker, 3s);
    const auto took = round_trips(sim);
    BOOST_TEST((took.at(1) >= 2s && took.at(1) < 3s));
    BOOST_TEST((took.at(2) < 100ms));
  }
}

BOOST_AUTO_TEST_CASE(what_goes_the_open_way_arrives_at_once) {
  struct Heard {
    std::chrono::nanoseconds at{0};
  } heard;
  struct Ear final : NamedActor {
    explicit Ear(std::function<void()> hear) {
      on([hear = std::move(hear)](const Ping&) { hear(); });
    }
  };
  SimCluster sim({{"worker", 2}}, {});
  auto run = sim.start([&](SimTask& task) {
    Server& server = task.server();
    if (server.name().index == 0)
      server.spawn("ear", [&] { return std::make_unique<Ear>([&] { heard.at = sim.elapsed(); }); });
    else {
      const ActorRef ear = server.find("/job:worker/task:0", "ear");
      ear.wait_until_there();
      task.sleep(3s - sim.elapsed());
      ear.tell(Ping{});
    }
    task.sleep(20s);
  });
  sim.at(2s).partition_oneway("/job:worker/task:0", "/job:worker/task:1", 3s);
  run.finish();
  BOOST_TEST((heard.at >= 3s && heard.at < 3100ms));
}

BOOST_AUTO_TEST_CASE(cuts_that_overlap_end_each_for_itself) {
  SimCluster sim({{"worker", 3}}, {});
  sim.at(9500ms).partition("/job:worker/task:0", "/job:worker/task:1", 1s);
  sim.at(9600ms).partition_oneway("/job:worker/task:0", "/job:worker/task:1", 3400ms);
  const auto took = round_trips(sim);
  BOOST_TEST((took.at(1) >= 3s && took.at(1) < 4s));
}

BOOST_AUTO_TEST_CASE(isolation_cuts_a_task_off_from_all) {
  SimCluster sim({{"worker", 3}}, {});
  sim.at(1s).isolate("/job:worker/task:1", 2s);
  BOOST_TEST(to_string(sim.faults()) ==
             "1s partition /job:worker/task:1 /job:worker/task:0 for 2s; "
             "1s partition /job:worker/task:1 /job:worker/task:2 for 2s");
}

BOOST_AUTO_TEST_CASE(the_disk_of_one_task_is_full) {
  const Written written = written_under(FaultKind::disk_full);
  BOOST_TEST(written.error[0].empty());
  BOOST_TEST(written.error[1].find("No space left on device") != std::string::npos, written.error[1]);
}

BOOST_AUTO_TEST_CASE(the_disk_of_one_task_fails) {
  const Written written = written_under(FaultKind::disk_errors);
  BOOST_TEST(written.error[0].empty());
  BOOST_TEST(!written.error[1].empty());
}

BOOST_AUTO_TEST_CASE(the_disk_of_one_task_is_slow) {
  const Written written = written_under(FaultKind::disk_slow);
  BOOST_TEST((written.took[1] > 20 * written.took[0]));
}

BOOST_AUTO_TEST_CASE(a_torn_write_stores_a_part_and_fails) {
  const Written written = written_under(FaultKind::disk_torn);
  BOOST_TEST(written.error[0].empty());
  BOOST_TEST(written.error[1].find("Input/output error") != std::string::npos, written.error[1]);

  World world(1, std::make_unique<RandomSchedule>(1), false);
  SimFiles files(world);
  files.faults(outside).torn = 1;
  const int file = files.open("log", OpenMode::append);
  BOOST_TEST(files.write(file, bytes_of(std::string(1000, 'x'))) == -EIO);
  BOOST_TEST((files.size(file) > 0 && files.size(file) < 1000));
}

// Each task has written a file of two sectors, of which the first was synced.
BOOST_AUTO_TEST_CASE(a_loss_of_power_of_one_task_loses_what_only_that_has_not_synced) {
  const std::string sector(512, 'x');
  int shorter = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World world(seed, std::make_unique<RandomSchedule>(seed), false);
    SimFiles files(world);
    int handles[2];
    for (const TrackId task : {world.add_track("a"), world.add_track("b")})
      world.as(task, [&] {
        handles[task] = files.open(std::to_string(task), OpenMode::append);
        files.write(handles[task], bytes_of(sector));
        files.sync(handles[task]);
        files.write(handles[task], bytes_of(sector));
      });
    files.lose_power_of(1);
    BOOST_TEST(files.size(handles[0]) == 1024);
    BOOST_TEST((files.size(handles[1]) >= 512 && files.size(handles[1]) <= 1024));
    shorter += files.size(handles[1]) < 1024;
  }
  BOOST_TEST(shorter > 0);
}

BOOST_AUTO_TEST_CASE(a_task_loses_its_power_and_comes_back) {
  SimCluster sim({{"worker", 2}}, {});
  auto run = sim.start([](SimTask& task) {
    task.sleep(10s);
    return task.life();
  });
  sim.at(2s).fault(FaultKind::power, "/job:worker/task:1", 1s);
  BOOST_TEST(run.finish("/job:worker/task:1") == 2);
  BOOST_TEST(run.finish("/job:worker/task:0") == 1);
}

BOOST_AUTO_TEST_CASE(the_wall_clock_of_one_task_is_ahead_or_behind) {
  std::map<int, double> ahead;
  SimCluster sim({{"worker", 3}}, {});
  auto run = sim.start([&](SimTask& task) {
    const double began = task.storage().wall_time_s();
    const auto steady = now(task);
    task.sleep(5s);
    ahead[task.server().name().index] = task.storage().wall_time_s() - began - 5;
    BOOST_TEST((now(task) - steady < 6s));  // no steady clock jumps
    task.sleep(10s);
    BOOST_TEST(task.storage().wall_time_s() - began < 16);
  });
  sim.at(1s).clock("/job:worker/task:1", 90s, 8s);
  sim.at(1s).clock("/job:worker/task:2", -30s, 8s);
  run.finish();
  BOOST_TEST((ahead[0] < 1 && ahead[1] > 89 && ahead[1] < 91 && ahead[2] < -29 && ahead[2] > -31));
}

BOOST_AUTO_TEST_CASE(a_plan_of_aimed_faults_reads_as_it_is_written) {
  const std::string text =
      "1s partition_oneway /job:ps/task:0 /job:worker/task:1 for 0.25s; 2s delay /job:ps/task:0 "
      "/job:worker/task:1 by 1s "
      "for 3s; 3s delay for 1s; 4s clock /job:ps/task:0 by -3600s for 2s; 5s duplicate /job:ps/task:0 "
      "for 1s; 6s "
      "disk_torn /job:ps/task:0 for 1s; 7s disk_slow for 1s; 8s power /job:ps/task:0 for 1s";
  BOOST_TEST(to_string(parse_fault_plan(text)) == text);
  for (const char* bad :
       {"1s lossy /job:a/task:0 /job:b/task:0 /job:c/task:0 for 1s", "1s delay by for 1s",
        "1s delay by -1s for 1s", "1s lossy by 1s for 1s", "1s delay for 1s by 2s"})
    BOOST_CHECK_THROW(parse_fault_plan(bad), Error);
}

BOOST_AUTO_TEST_SUITE_END()
