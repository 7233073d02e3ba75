#include "apps/launch/run/host_discovery.h"

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>

#include "test/apps/launch/support/launched.h"
#include "test/support/says.h"
#include "test/support/scoped_environment.h"

BOOST_AUTO_TEST_SUITE(host_discovery)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A script, and what is said of it.
struct Script {
  Folder folder;
  std::vector<std::string> said;
  Pipe nothing = make_pipe();

  HostDiscovery discovery(const std::string& body) {
    write_file(folder.file("script"), "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(folder.file("script"), std::filesystem::perms::owner_all);
    return HostDiscovery(folder.file("script"),
                         [this](const std::string& text) { said.push_back(text); });
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(what_the_script_prints_are_the_hosts, Script) {
  const auto hosts = discovery("echo node1:2; echo 'me@node2 slots=3'").first(nothing.reading);
  BOOST_TEST((hosts == std::vector<LaunchHost>{{"node1", "", 2}, {"node2", "me", 3}}));
  BOOST_TEST(said.empty());
}

BOOST_FIXTURE_TEST_CASE(a_run_that_fails_says_how, Script) {
  const std::vector<std::pair<std::string, std::string>> runs{
      {"echo node1; exit 3", "it ended with status 3"},
      {"echo node1; kill -9 $$", "it was killed by signal 9"},
      {"exit 0", "expected a host in each line, got none"}};
  for (const auto& [body, words] : runs)
    BOOST_CHECK_EXCEPTION(discovery(body).first(nothing.reading), Error, says(words));
}

// The hosts that are left of it would be some of them.
BOOST_FIXTURE_TEST_CASE(output_that_would_be_cut_is_no_list_of_hosts, Script) {
  BOOST_CHECK_EXCEPTION(discovery("yes node1:2").first(nothing.reading), Error,
                        says("it prints more than 1048576 bytes"));
  BOOST_CHECK_EXCEPTION(
      discovery("head -c 1048577 /dev/zero | tr '\\0' x; echo; exit 0").first(nothing.reading), Error,
      says("it prints more than 1048576 bytes"));
}

BOOST_FIXTURE_TEST_CASE(an_end_that_cannot_be_seen_is_no_success, Script) {
  struct sigaction before {
  }, ignoring{};
  ignoring.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &ignoring, &before);
  BOOST_CHECK_EXCEPTION(discovery("echo node1").first(nothing.reading), Error,
                        says("how it ended cannot be seen: No child processes"));
  sigaction(SIGCHLD, &before, nullptr);
}

BOOST_FIXTURE_TEST_CASE(what_a_run_leaves_behind_ends_with_it, Script) {
  const std::string mark = "discovery" + std::to_string(getpid());
  const ScopedEnvironment marked("ACTORFLOW_TEST_MARK", mark);
  discovery("sleep 1000 >/dev/null & echo node1").first(nothing.reading);
  expect_marked(mark, 0);
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_ends_the_wait_and_the_script, Script) {
  write_all(nothing.writing, "x");
  const std::string mark = "interrupted" + std::to_string(getpid());
  const ScopedEnvironment marked("ACTORFLOW_TEST_MARK", mark);
  BOOST_TEST(discovery("exec sleep 1000").first(nothing.reading).empty());
  expect_marked(mark, 0);
}

BOOST_AUTO_TEST_CASE(ctrl_c_ends_a_job_that_waits_for_its_first_hosts) {
  const Folder folder;
  write_file(folder.file("script"), "#!/bin/sh\nexec sleep 1000\n");
  std::filesystem::permissions(folder.file("script"), std::filesystem::perms::owner_all);
  Launched job({"-np", "2", "--host_discovery", folder.file("script")}, {"/bin/echo", "started"});
  BOOST_REQUIRE(
      job.process().prints("waiting for --host_discovery " + folder.file("script") + " to print"));
  job.process().send_signal(SIGINT);
  BOOST_TEST(job.wait() == 130);
  BOOST_TEST(job.last_line() == "launch | ended by signal 2 (Interrupt)");
  BOOST_TEST(job.output().find("| started") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
