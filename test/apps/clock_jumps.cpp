// A training job whose tasks' wall clocks jump, by years: jumping_clock/ sets them. Nothing is taken for
// lost, nothing waits for a time that has gone, and no bit changes.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <thread>

#include "actors/checkpoint/checkpoint.h"
#include "test/apps/support/trainers.h"
#include "test/support/folder.h"
#include "test/support/hang_limit.h"

using namespace actorflow;
using namespace actorflow::test;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t year_s = 365 * 24 * 3600;

struct JumpingClocks {
  // At once, for all tasks.
  void set_ahead(std::int64_t seconds) const {
    write_file(folder.file("next"), std::to_string(seconds));
    std::filesystem::rename(folder.file("next"), folder.file("ahead"));
  }
  std::vector<std::string> environment() const {
    return {"LD_PRELOAD=" ACTORFLOW_JUMPING_CLOCK, "JUMPING_CLOCK=" + folder.file("ahead")};
  }
  std::string checkpoints() const { return folder.file("checkpoints"); }

  // Until a checkpoint is there of which the chief's clock says that it was made then: it has jumped,
  // and training has gone on.
  void wait_for_checkpoint_of(std::int64_t ahead) const {
    const auto is_of_then = [&](const std::string& path) {
      const auto saved = read_manifest(posix_storage(), path).saved_at_s;
      return std::abs(saved - (std::time(nullptr) + ahead)) < year_s / 2;
    };
    for (const auto end = std::chrono::steady_clock::now() + hang_limit;
         std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(10ms)) {
      const auto newest = latest_checkpoint(posix_storage(), checkpoints());
      if (newest && is_of_then(*newest)) return;
    }
    BOOST_FAIL("no checkpoint of a clock that is " << ahead << " s ahead");
  }

  Folder folder;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(clock_jumps, JumpingClocks)

BOOST_AUTO_TEST_CASE(of_all_tasks_change_nothing) {
  const std::vector<std::string> flags{"--train_steps=1000", "--data=digits", "--hidden=32"};
  auto alone = flags;
  alone.insert(alone.end(), {"--sync", "--ps=2", "--workers=3"});
  auto together = flags;
  together.insert(together.end(), {"--sync_replicas", "--heartbeat_timeout=1",
                                   "--save_checkpoint_steps=50", "--checkpoint_dir=" + checkpoints()});
  set_ahead(0);
  Trainers job(2, 3, together, environment());
  job.start_all();
  for (const std::int64_t ahead : {std::int64_t{0}, 10 * year_s, -10 * year_s, year_s}) {
    set_ahead(ahead);
    wait_for_checkpoint_of(ahead);
  }
  job.expect_success();
  for (const auto& [name, index] :
       {std::pair{"ps", 0}, {"ps", 1}, {"worker", 0}, {"worker", 1}, {"worker", 2}})
    for (const char* complaint : {"has said nothing", "lost", "waiting for"})
      BOOST_TEST(job.task(name, index).output().find(complaint) == std::string::npos,
                 job.task(name, index).output());
  BOOST_TEST(job.weights_hash() == report_value(train_in_one_process(alone), "weights_hash"));
}

BOOST_AUTO_TEST_SUITE_END()
