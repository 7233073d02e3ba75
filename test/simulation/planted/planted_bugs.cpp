// Mistakes that this program's build makes on purpose, one at a time: the simulation finds each. The
// library's sources that have a patch in patches/ are compiled again for it, as patched.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include "actors/simulation/seeds.h"
#include "apps/scenario/simulate.h"
#include "test/simulation/planted/planted_bug.h"
#include "test/simulation/support/commit_crash.h"
#include "test/simulation/support/ranks_job.h"
#include "test/simulation/support/resumed_job.h"
#include "test/simulation/support/saving_job.h"
#include "test/simulation/support/synced_log.h"
#include "test/simulation/support/watched_job.h"
#include "test/simulation/support/word_job.h"

namespace actorflow {
namespace {

PlantedBug the_bug = PlantedBug::none;

struct Hunt {
  explicit Hunt(const char* name)
      : scenario(Scenario::read(
            fmt::format("{}/test/simulation/planted/{}.scenario", ACTORFLOW_SOURCE_DIR, name))) {}

  Scenario scenario;
  SimulatedJob undisturbed = simulate_undisturbed(scenario);

  std::optional<SeedFailure> find(PlantedBug bug, SeedRange range) const {
    plant(bug);
    auto failure = run_seeds(range, [this] { simulate(scenario, undisturbed); }, {});
    plant(PlantedBug::none);
    return failure;
  }
};

// Where a mistake would show.
const Hunt& hunt(PlantedBug bug) {
  static const Hunt synchronous("hunt"), asynchronous("hunt_async");
  return bug == PlantedBug::applied_again ? asynchronous : synchronous;
}

// Within 1,000 seeds, and shrunk to faults that are a part of the seed's.
void check_found(PlantedBug bug, std::uint64_t seeds = 1000) {
  const Hunt& hunt = actorflow::hunt(bug);
  const auto failure = hunt.find(bug, {1, seeds});
  BOOST_REQUIRE_MESSAGE(failure, "not found within so many seeds: " << seeds);
  BOOST_TEST_MESSAGE("found: " << failure->to_string().substr(0, 400));
  BOOST_TEST(failure->faults.size() <= hunt.scenario.faults(failure->seed).size());
  BOOST_TEST(!hunt.find(PlantedBug::none, {failure->seed, failure->seed}),
             "the seed fails without the bug, too");
}

// Of mistakes that only `job` shows, which throws where it sees one.
void check_found_by(const std::function<void()>& job, PlantedBug bug, std::uint64_t seeds = 1000) {
  const auto find = [&job](PlantedBug which, SeedRange range) {
    plant(which);
    auto failure = run_seeds(range, job, {});
    plant(PlantedBug::none);
    return failure;
  };
  const auto failure = find(bug, {1, seeds});
  BOOST_REQUIRE_MESSAGE(failure, "not found within so many seeds: " << seeds);
  BOOST_TEST_MESSAGE("found: " << failure->to_string().substr(0, 400));
  BOOST_TEST(!find(PlantedBug::none, {failure->seed, failure->seed}),
             "the seed fails without the bug, too");
}

void check_found_by_disk(PlantedBug bug) {
  check_found_by([] { test::save_through_faults({FaultKind::power}); }, bug);
}

void check_found_by_jobs(PlantedBug bug, std::uint64_t seeds = 1000) {
  const std::vector<FaultKind> kinds{FaultKind::kill, FaultKind::pause, FaultKind::partition,
                                     FaultKind::disk_errors, FaultKind::disk_full};
  test::undisturbed_words();
  check_found_by([&] { test::count_words_through(kinds, 3); }, bug, seeds);
}

void check_found_by_resumed_jobs(PlantedBug bug, const std::vector<FaultKind>& kinds,
                                 const std::string& damaged = {}) {
  test::undisturbed_words();
  check_found_by([&] { test::resume_words_through(kinds, 1, damaged); }, bug);
}

void check_found_by_ranks(PlantedBug bug, const std::vector<FaultKind>& kinds) {
  check_found_by([&] { test::simulate_ranks(test::job_of_seed(of_this_seed({}).seed), kinds); }, bug);
}

void check_found_by_checkpoints(PlantedBug bug) {
  for (const auto* name : {"watched_backup", "watched_staleness"}) {
    const test::WatchedJob job(name, {});
    check_found_by([&job] { job.expect_one_step(); }, bug);
  }
}

}  // namespace

bool planted(PlantedBug bug) { return bug == the_bug; }
void plant(PlantedBug bug) { the_bug = bug; }

}  // namespace actorflow

namespace test = actorflow::test;
using actorflow::PlantedBug, actorflow::check_found, actorflow::check_found_by,
    actorflow::check_found_by_checkpoints, actorflow::check_found_by_disk,
    actorflow::check_found_by_jobs, actorflow::check_found_by_ranks,
    actorflow::check_found_by_resumed_jobs, actorflow::FaultKind;

BOOST_AUTO_TEST_SUITE(planted_bugs)

BOOST_AUTO_TEST_CASE(without_a_bug_nothing_is_found) {
  for (const auto bug : {PlantedBug::none, PlantedBug::applied_again})
    BOOST_TEST(!actorflow::hunt(bug).find(PlantedBug::none, {1, 10}));
}

#define FINDS(bug) \
  BOOST_AUTO_TEST_CASE(finds_##bug) { check_found(PlantedBug::bug); }
FINDS(lost_token)
FINDS(double_apply)
FINDS(applied_again)
FINDS(stale_write)
FINDS(kept_gradients)
// Rare: a replica has to come between the opening and the restoring, which follows at once.
BOOST_AUTO_TEST_CASE(finds_opened_early) { check_found(PlantedBug::opened_early, 3000); }
FINDS(checkpoint_in_place)
FINDS(forgotten_slots)
FINDS(wrong_batch)
FINDS(begun_early)
FINDS(rejoined_late)
FINDS(summed_as_they_came)
FINDS(announced_twice)
FINDS(forgotten_messages)

#define DISK_FINDS(bug) \
  BOOST_AUTO_TEST_CASE(finds_##bug) { check_found_by_disk(PlantedBug::bug); }
DISK_FINDS(unsynced_file)
DISK_FINDS(unsynced_rename)
DISK_FINDS(unsynced_folder)
DISK_FINDS(unsynced_removal)

#define CHECKPOINTS_SHOW(bug) \
  BOOST_AUTO_TEST_CASE(finds_##bug) { check_found_by_checkpoints(PlantedBug::bug); }
CHECKPOINTS_SHOW(steps_not_held)
CHECKPOINTS_SHOW(assumed_one_step)

#define JOBS_FIND(bug) \
  BOOST_AUTO_TEST_CASE(finds_##bug) { check_found_by_jobs(PlantedBug::bug); }
JOBS_FIND(slice_kept_twice)
JOBS_FIND(lost_spill)
JOBS_FIND(counted_again)
JOBS_FIND(empty_if_missing)
JOBS_FIND(success_first)
JOBS_FIND(ended_early)
JOBS_FIND(not_mended)
JOBS_FIND(wrong_part)
JOBS_FIND(wrong_slice)

// By the judge of scenarios, which compares what the tasks were told beside the files.
BOOST_AUTO_TEST_CASE(finds_counted_in_vain) {
  const auto scenario =
      actorflow::Scenario::read(ACTORFLOW_SOURCE_DIR "/apps/scenarios/counted_words.scenario");
  const auto undisturbed = actorflow::simulate_undisturbed(scenario);
  check_found_by([&] { actorflow::simulate(scenario, undisturbed); }, PlantedBug::counted_in_vain);
}

// A task must lose all of its slots.
BOOST_AUTO_TEST_CASE(finds_kept_slot) { check_found_by_jobs(PlantedBug::kept_slot, 8000); }

// A task must be given up, and come back with what it has made.
BOOST_AUTO_TEST_CASE(finds_accepted_late) {
  test::undisturbed_words();
  check_found_by(
      [] {
        test::count_words_through({FaultKind::pause}, 3, actorflow::Compression::lz4,
                                  std::chrono::seconds(20));
      },
      PlantedBug::accepted_late);
}

BOOST_AUTO_TEST_CASE(finds_own_rank_first) { check_found_by_ranks(PlantedBug::own_rank_first, {}); }
BOOST_AUTO_TEST_CASE(finds_host_in_disorder) { check_found_by_ranks(PlantedBug::host_in_disorder, {}); }
BOOST_AUTO_TEST_CASE(finds_used_as_it_came) {
  check_found_by_ranks(PlantedBug::used_as_it_came, {FaultKind::duplicate, FaultKind::late});
}

BOOST_AUTO_TEST_CASE(finds_unsynced_chunks) {
  check_found_by_resumed_jobs(PlantedBug::unsynced_chunks, {FaultKind::power});
}
BOOST_AUTO_TEST_CASE(finds_unsynced_journal) {
  check_found_by(test::append_through_a_loss_of_power, PlantedBug::unsynced_journal);
}
BOOST_AUTO_TEST_CASE(finds_answered_unsynced) {
  test::undisturbed_words();
  check_found_by([] { test::commit_through_a_crash(3); }, PlantedBug::answered_unsynced);
}
BOOST_AUTO_TEST_CASE(finds_unverified_chunks) {
  check_found_by_resumed_jobs(PlantedBug::unverified_chunks, {FaultKind::power}, "stage-");
}
BOOST_AUTO_TEST_CASE(finds_trusted_journal) {
  check_found_by_resumed_jobs(PlantedBug::trusted_journal, {FaultKind::power}, "journal-");
}

BOOST_AUTO_TEST_SUITE_END()
