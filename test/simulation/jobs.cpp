// Map/reduce jobs on disks that fail, in processes that die, between tasks that lose each other: the
// files that a job has written are the same as those of a run that nothing has disturbed, and where
// there is a _SUCCESS all of them are there. What cannot be the same ends the job.
#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>

#include "actors/probes/point.h"
#include "actors/simulation/world/world.h"
#include "test/simulation/support/commit_crash.h"
#include "test/simulation/support/resumed_job.h"
#include "test/simulation/support/word_job.h"

BOOST_AUTO_TEST_SUITE(jobs)

using namespace actorflow;
using test::count_words_through, test::resume_words_through;
using namespace std::chrono_literals;

namespace {

constexpr const char* coordinator = "/job:local/task:0";

// A job whose first function gives something else each time. Its sums are read by more parts than run
// at a time: when the first one runs, a task that has made some is lost.
struct NumberedWords {
  SimCluster& sim;
  std::int64_t calls = 0;
  std::string maker = {};  // a task that has made sums; not the coordinator's
  bool has_lost = false;

  void count(Job& job) {
    job.read_text(job.param("input"))
        .flat_map(words)
        .map([this](auto word) {
          return std::pair{word, next()};
        })
        .reduce_by_key(std::plus<>())
        .map([this](const auto& sum) {
          lose_a_task();
          return sum;
        })
        .write_csv(job.param("output"));
  }
  std::int64_t next() {
    World& world = sim.world();
    const auto& task = world.track_names()[static_cast<std::size_t>(world.current())];
    if (task != coordinator && !has_lost) maker = task;
    return ++calls;
  }
  void lose_a_task() {
    if (maker.empty() || std::exchange(has_lost, true)) return;
    sim.world().after(1us, [this] {
      sim.at(sim.world().elapsed()).kill(maker);
      sim.at(sim.world().elapsed() + 100ms).restart(maker);
    });
  }
};

std::string error_of(SimTask& task, NumberedWords& numbered) {
  test::write_input(task.storage());
  JobOptions options = test::options_of_test();
  options.split_bytes = 1'000;  // so many parts that there are some left for the others
  options.partitions = 40;
  // Who asks the coordinator before it is there asks again half a second later.
  if (task.server().name().to_string() != coordinator) task.sleep(10ms);
  try {
    run_job(task.server(), {{"numbered", [&](Job& job) { numbered.count(job); }}}, "numbered", options);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

SIMULATION_TEST(a_job_that_is_killed_and_started_again_writes_the_same_files, seeds(1, 100)) {
  count_words_through({FaultKind::kill, FaultKind::power, FaultKind::pause});
}

SIMULATION_TEST(a_disk_that_fails_or_is_full_changes_no_byte, seeds(1, 100)) {
  count_words_through({FaultKind::disk_errors, FaultKind::disk_full, FaultKind::kill});
}

SIMULATION_TEST(a_disk_that_is_full_for_two_seconds_ends_no_job, seeds(1, 20)) {
  const auto expected = test::undisturbed_words();
  SimOptions options = test::options_of_a_short_job();
  options.restart_failed = std::chrono::nanoseconds(0);
  SimCluster sim({{"local", 1}}, options);
  sim.start([&sim](SimTask& task) {
       test::write_input(task.storage());
       SimFiles& files = sim.storage().files();
       files.set_capacity(0);
       sim.world().at(sim.world().now() + std::chrono::seconds(2),
                      [&files] { files.set_capacity(~std::uint64_t{0}); });
       Job job(test::options_of_test(), task.server().runtime());
       test::sorted_counts(job);
     })
      .finish();
  BOOST_TEST((test::output_of(sim) == expected));
}

SIMULATION_TEST(tasks_that_nothing_disturbs_write_the_files_of_one, seeds(1, 50)) {
  count_words_through({}, 3);
}

SIMULATION_TEST(tasks_that_are_lost_change_no_byte, seeds(1, 100)) {
  count_words_through({FaultKind::kill, FaultKind::pause, FaultKind::partition}, 3);
}

// What they say of parts that have run elsewhere meanwhile comes too late.
SIMULATION_TEST(tasks_that_were_given_up_and_come_back_change_no_byte, seeds(1, 100)) {
  count_words_through({FaultKind::pause, FaultKind::partition}, 3, Compression::lz4,
                      std::chrono::seconds(20));
}

SIMULATION_TEST(tasks_with_bad_disks_and_links_change_no_byte, seeds(1, 100)) {
  count_words_through(
      {FaultKind::disk_errors, FaultKind::disk_full, FaultKind::kill, FaultKind::duplicate}, 4);
}

SIMULATION_TEST(a_task_that_dies_while_its_files_take_their_place_changes_no_byte, seeds(1, 100)) {
  test::commit_through_a_crash(1);
}

SIMULATION_TEST(one_of_three_tasks_may_die_so_too, seeds(1, 100)) { test::commit_through_a_crash(3); }

SIMULATION_TEST(a_job_goes_on_after_the_loss_of_everything, seeds(1, 100)) {
  resume_words_through({FaultKind::power, FaultKind::kill, FaultKind::pause}, 1);
}

SIMULATION_TEST(tasks_go_on_after_the_loss_of_everything, seeds(1, 100)) {
  resume_words_through({FaultKind::power, FaultKind::kill, FaultKind::partition}, 3);
}

SIMULATION_TEST(a_job_goes_on_on_disks_that_fail, seeds(1, 100)) {
  resume_words_through({FaultKind::power, FaultKind::disk_errors, FaultKind::disk_full, FaultKind::kill},
                       2);
}

SIMULATION_TEST(a_damaged_file_costs_a_part_and_no_byte, seeds(1, 100)) {
  resume_words_through({FaultKind::power}, 2, "stage-");
}

SIMULATION_TEST(a_damaged_journal_costs_parts_and_no_byte, seeds(1, 100)) {
  resume_words_through({FaultKind::power}, 1, "journal-");
}

SIMULATION_TEST(what_the_journal_says_is_not_done_again, seeds(1, 20)) {
  BOOST_TEST(test::parts_saved_by_the_journal() > 0u);
}

// The result of an earlier run is replaced by the same one.
SIMULATION_TEST(a_loss_of_power_leaves_no_success_without_its_files, seeds(1, 100)) {
  const auto expected = test::undisturbed_words();
  const SimOptions options = test::options_of_a_short_job();
  SimCluster sim({{"local", 1}}, options);
  test::disturb_a_short_job(sim, options.seed, {FaultKind::power});
  sim.start([&expected](SimTask& task) {
       test::write_input(task.storage());
       if (test::is_done(task.storage()) && test::files_of(task.storage(), "out") != expected)
         throw std::logic_error("there is a _SUCCESS, but not all of its files");
       for (int run = 0; run < 2; ++run) {
         Job job(test::options_of_test(), task.server().runtime());
         test::sorted_counts(job);
       }
     })
      .finish();
  BOOST_TEST((test::output_of(sim) == expected));
}

// Word counts on the same servers, each of which reads what the one before it has written.
SIMULATION_TEST(jobs_one_after_the_other_are_told_apart, seeds(1, 100)) {
  SimOptions options = of_this_seed({});
  options.longest_kernel = std::chrono::milliseconds(4);
  SimCluster sim({{"local", 3}}, options);
  sim.start([](SimTask& task) {
       test::write_input(task.storage());
       for (int i = 1; i <= 4; ++i) {
         JobOptions job = test::options_of_test();
         const std::string output = "out" + std::to_string(i);
         job.parameters = {{"input", i == 1 ? "in" : "out" + std::to_string(i - 1)}, {"output", output}};
         run_job(task.server(), {{"sorted_counts", test::sorted_counts}}, "sorted_counts", job);
         if (!task.storage().exists(output + "/_SUCCESS"))
           throw std::logic_error("job " + std::to_string(i) + " ends here before it has ended");
       }
     })
      .finish();
  BOOST_TEST(sim.storage().list("out4").size() == 5u);
}

SIMULATION_TEST(a_part_that_is_made_again_and_differs_ends_the_job, seeds(1, 50)) {
  SimCluster sim({{"local", 3}}, test::options_of_a_short_job());
  NumberedWords numbered{sim};
  auto run = sim.start([&numbered](SimTask& task) { return error_of(task, numbered); });
  const std::string error = run.finish(coordinator);
  for (const char* expected :
       {"read_text, flat_map, map: part ", " is not deterministic: made again after a loss",
        "those of this stage: read_text at jobs.cpp:", ", map at jobs.cpp:"})
    BOOST_TEST(error.find(expected) != error.npos, error);
  BOOST_TEST(!test::is_done(sim.storage()));
}

// What the runs above have met.
BOOST_AUTO_TEST_CASE(rare_situations_of_jobs_are_reached) {
  for (const auto& [name, hits] : Point::take_all()) BOOST_TEST_MESSAGE(name << ": " << hits);
}

BOOST_AUTO_TEST_SUITE_END()
