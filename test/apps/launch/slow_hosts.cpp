// Hosts that take their time, with a program in ssh's place.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>

#include "test/apps/launch/support/launched.h"

BOOST_AUTO_TEST_SUITE(slow_hosts)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// Hosts that answer when they may.
struct SlowHosts {
  Folder folder;

  SlowHosts() {
    write_file(folder.file("ssh"), "#!/bin/sh\nwhile [ ! -e " + folder.file("go") +
                                       " ]; do sleep 0.01; done\nexec " ACTORFLOW_BIN_DIR
                                       "/actorflow keep\n");
    std::filesystem::permissions(folder.file("ssh"), std::filesystem::perms::owner_all);
  }
  Process launch(const std::string& hosts, const std::string& np) const {
    return Process({"/usr/bin/env", "PATH=" + folder.path() + ":/usr/bin:/bin",
                    ACTORFLOW_BIN_DIR "/actorflow", "launch", "-H", hosts, "-np", np, "/bin/echo",
                    "started"});
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(who_keeps_a_job_waiting_is_said_before_it_begins, SlowHosts) {
  Process job = launch("slow-1", "1");
  BOOST_REQUIRE(job.prints("launch | waiting for slow-1 to start actorflow\n"));
  write_file(folder.file("go"), "");
  BOOST_TEST(job.wait() == 0);
  expect(job.output(), "worker 0 | started");
}

BOOST_FIXTURE_TEST_CASE(all_of_many_are_named_and_ctrl_c_ends_the_wait, SlowHosts) {
  Process job = launch("slow-1,slow-2,slow-3", "3");
  BOOST_REQUIRE(job.prints("launch | waiting for slow-1, slow-2, slow-3 to start actorflow\n"));
  job.send_signal(SIGINT);
  BOOST_TEST(job.wait() == 130);
  BOOST_TEST(job.output().find("| started") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
