// fit() by workers on machines of their own, between which the wire is cut for a while.
// Each task is a fit_trainer (weighted/).
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "apps/rehearsal/lan.h"
#include "test/apps/support/machines.h"
#include "test/apps/support/tf_config_cluster.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(fit_partitions, *boost::unit_test::precondition(actorflow::test::has_machines))

using actorflow::Lan;
using namespace actorflow::test;

namespace {

using Flags = std::vector<std::string>;

const Jobs workers{{"worker", 2}};
const std::string unheard = " is connected, but has said nothing for ";

// Two workers, each on a machine, that average their gradients by all-reduce.
struct TwoWorkers : TfConfigCluster {
  TwoWorkers(const Flags& flags, Lan* lan) : TfConfigCluster(command(flags), workers, {}, lan) {}

  static Flags command(const Flags& flags) {
    Flags all{ACTORFLOW_BIN_DIR "/fit_trainer", "--insecure", "--heartbeat_timeout_ms=1000"};
    all.insert(all.end(), flags.begin(), flags.end());
    return all;
  }
  Process& chief() { return process("worker", 0); }
  Process& other() { return process("worker", 1); }
  void expect_print(Process& task, const std::string& text) {
    BOOST_REQUIRE_MESSAGE(task.prints(text), task.output());
  }
  std::string result() {
    expect_all_end(0);
    return last_line_with("weights ", chief());
  }
};

const Flags epochs{"--epochs=150"};

std::string undisturbed() {
  TwoWorkers job(epochs, nullptr);
  job.start_all();
  return job.result();
}

// Until both have missed each other.
std::string through_a_cut(Flags flags) {
  flags.insert(flags.end(), epochs.begin(), epochs.end());
  Lan lan(2);
  TwoWorkers job(flags, &lan);
  job.start_all();
  job.expect_print(job.chief(), "epoch 5/");
  lan.cut_off({1});
  job.expect_print(job.chief(), "/job:worker/task:1 at worker-1:2222" + unheard);
  job.expect_print(job.other(), "/job:worker/task:0 at worker-0:2222" + unheard);
  lan.join_all();
  return job.result();
}

}  // namespace

BOOST_AUTO_TEST_CASE(workers_that_were_cut_from_each_other_go_on_with_equal_bits) {
  const std::string expected = undisturbed();
  const Folder folder;
  BOOST_TEST(through_a_cut({}) == expected);
  BOOST_TEST(through_a_cut({"--checkpoint_dir", folder.path()}) == expected);
}

// A worker gives up after its limit, and says whom it lacks; the chief says for whom it waits. One that
// is started again, as by a supervisor, goes on with the others.
BOOST_AUTO_TEST_CASE(a_worker_that_is_cut_off_for_longer_than_its_limit_ends_and_may_come_back) {
  Flags flags{"--connect_timeout_ms=3000"};
  flags.insert(flags.end(), epochs.begin(), epochs.end());
  Lan lan(2);
  TwoWorkers job(flags, &lan);
  job.start_all();
  job.expect_print(job.chief(), "epoch 5/");
  lan.cut_off({1});
  BOOST_TEST(job.other().wait() != 0);
  const std::string said = job.other().output();
  BOOST_TEST(
      said.find("for /job:worker/task:0 at worker-0:2222 without reaching it") != std::string::npos,
      said);
  job.expect_print(job.chief(), "waits for rank 1 (/job:worker/task:1) since");
  lan.join_all();
  job.start("worker", 1);
  BOOST_TEST(job.result() == undisturbed());
}

BOOST_AUTO_TEST_SUITE_END()
