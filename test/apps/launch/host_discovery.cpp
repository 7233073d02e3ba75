#include "apps/launch/run/host_discovery.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include "test/actors/support/failing_memory.h"
#include "test/apps/launch/support/launched.h"
#include "test/apps/launch/support/undead.h"
#include "test/support/hang_limit.h"
#include "test/support/says.h"
#include "test/support/scoped_environment.h"

BOOST_AUTO_TEST_SUITE(host_discovery)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// Replaces the file at once: a shell reads its script while it runs.
void write_script(const std::string& path, const std::string& body) {
  write_file(path + ".new", "#!/bin/sh\n" + body + "\n");
  std::filesystem::permissions(path + ".new", std::filesystem::perms::owner_all);
  std::filesystem::rename(path + ".new", path);
}

int child_of_this_process() {
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
  int child = 0;
  children >> child;
  return child;
}

// A script, and what is said of it.
struct Script {
  Folder folder;
  std::vector<std::string> said;
  Pipe nothing = make_pipe();
  std::string path = folder.file("script");
  // For scripts that count their runs.
  std::string count = "echo >>" + folder.file("runs") + "; ";

  HostDiscovery discovery(const std::string& body) {
    write_script(path, body);
    return HostDiscovery(path, [this](const std::string& text) { said.push_back(text); });
  }
  auto runs() const { return std::ranges::count(read_file(folder.file("runs")), '\n'); }

  // Looks until `is_over`. Returns the hosts that were found last.
  std::vector<LaunchHost> look(HostDiscovery& discovery, const std::function<bool()>& is_over) {
    std::vector<LaunchHost> found;
    for (const auto end = HostDiscovery::Clock::now() + hang_limit; !is_over();) {
      BOOST_REQUIRE(HostDiscovery::Clock::now() < end);
      if (auto hosts = discovery.look()) found = std::move(*hosts);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return found;
  }
  void look_until_said(HostDiscovery& discovery, std::size_t count_of_lines) {
    look(discovery, [&] { return said.size() == count_of_lines; });
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

// Processes of other groups than the script's, which are not killed with it.
BOOST_FIXTURE_TEST_CASE(who_else_holds_the_output_does_not_hold_up_a_run, Script) {
  const std::string mark = "holds" + std::to_string(getpid());
  const ScopedEnvironment marked("ACTORFLOW_TEST_MARK", mark);
  HostDiscovery held = discovery("setsid sleep 1000 & echo node1");
  BOOST_TEST((held.first(nothing.reading) == std::vector<LaunchHost>{{"node1", "", 1}}));
  write_script(path, "trap '' TERM; setsid sleep 1000 & setsid yes & wait");
  look_until_said(held, 1);
  BOOST_TEST(said[0] == "--host_discovery " + path +
                            ": it prints more than 1048576 bytes; the hosts stay as they are");
  write_script(path, "setsid sleep 1000 & echo node2");
  const auto hosts = look(held, [this] { return said.size() == 2; });
  BOOST_TEST((hosts == std::vector<LaunchHost>{{"node2", "", 1}}));
  for (const int process : marked_processes(mark)) kill(process, SIGKILL);
}

BOOST_FIXTURE_TEST_CASE(a_script_that_is_killed_and_does_not_end_is_told_until_it_ends, Script) {
  const std::string go = folder.file("go");
  mkfifo(go.c_str(), 0600);
  HostDiscovery stuck = discovery(count + "read line <" + go + "; while :; do echo $line; done");
  look(stuck, [this] { return runs() == 1; });
  {
    const Undead script(child_of_this_process());
    if (!script.is_held()) return;  // not allowed here
    write_file(go, std::string(1000, 'x') + "\n");
    look_until_said(stuck, 1);
    BOOST_TEST(said[0] == "--host_discovery " + path +
                              ": it was killed and does not end, as where it waits for a disk; "
                              "the hosts stay as they are");
    write_script(path, "echo node1");
  }
  const auto hosts = look(stuck, [this] { return said.size() == 3; });
  BOOST_TEST(said[1] == "--host_discovery " + path +
                            ": it prints more than 1048576 bytes; the hosts stay as they are");
  BOOST_TEST((hosts == std::vector<LaunchHost>{{"node1", "", 1}}));
}

BOOST_FIXTURE_TEST_CASE(a_script_that_is_killed_and_does_not_end_does_not_hold_up_the_end, Script) {
  std::optional<Undead> script;
  {
    HostDiscovery stuck = discovery(count + "exec sleep 1000");
    look(stuck, [this] { return runs() == 1; });
    script.emplace(child_of_this_process());
  }
  script.reset();
  waitpid(-1, nullptr, 0);
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_ends_the_wait_and_the_script, Script) {
  write_all(nothing.writing, "x");
  const std::string mark = "interrupted" + std::to_string(getpid());
  const ScopedEnvironment marked("ACTORFLOW_TEST_MARK", mark);
  BOOST_TEST(discovery("exec sleep 1000").first(nothing.reading).empty());
  expect_marked(mark, 0);
}

BOOST_FIXTURE_TEST_CASE(failures_of_a_kind_are_told_once_and_so_is_their_end, Script) {
  HostDiscovery changing = discovery(count + "echo \"!$(wc -l <" + folder.file("runs") + ")\"");
  look(changing, [this] { return runs() == 4; });
  BOOST_REQUIRE(said.size() == 1u);
  BOOST_TEST(said[0].starts_with("the output of --host_discovery " + path + ":1: expected host"));
  BOOST_TEST(said[0].ends_with("got '!1'; the hosts stay as they are"));
  write_script(path, "exit 3");
  look_until_said(changing, 2);
  BOOST_TEST(said[1] ==
             "--host_discovery " + path + ": it ended with status 3; the hosts stay as they are");
  write_script(path, count + "echo node1");
  look_until_said(changing, 3);
  BOOST_TEST(said[2] == "--host_discovery " + path + " prints hosts again");
  const auto before = runs();
  look(changing, [&] { return runs() == before + 2; });
  BOOST_TEST(said.size() == 3u);
}

BOOST_FIXTURE_TEST_CASE(a_script_that_disappears_is_named_and_may_come_back, Script) {
  HostDiscovery vanishing = discovery("echo node1");
  vanishing.first(nothing.reading);
  std::filesystem::remove(path);
  look_until_said(vanishing, 1);
  BOOST_TEST(
      said[0].starts_with("--host_discovery " + path + ": the program '" + path + "' is not there"));
  BOOST_TEST(said[0].ends_with(
      "; give a program that prints the hosts, a line for each; the hosts stay as they are"));
  write_script(path, "echo node2");
  const auto hosts = look(vanishing, [this] { return said.size() == 2; });
  BOOST_TEST(said[1] == "--host_discovery " + path + " prints hosts again");
  BOOST_TEST((hosts == std::vector<LaunchHost>{{"node2", "", 1}}));
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  look_until_said(vanishing, 3);
  BOOST_TEST(said[2].starts_with("--host_discovery " + path + ": '" + path +
                                 "' is there, but is no program; allow it: chmod +x"));
}

// Each allocation from the begin of a run to the hosts that it brings.
BOOST_FIXTURE_TEST_CASE(a_lack_of_memory_is_told_and_the_script_runs_again, Script) {
  bool has_failed = true;
  for (std::uint64_t n = 1; has_failed; ++n) {
    said.clear();
    HostDiscovery lacking = discovery("echo node1");
    std::optional<std::vector<LaunchHost>> hosts;
    for (std::uint64_t left = n; left > 0 && !hosts; left = allocations_left()) {
      fail_allocation(left);
      hosts = lacking.look();
    }
    has_failed = !hosts;
    if (!has_failed) continue;
    BOOST_TEST_CONTEXT("allocation " << n) {
      BOOST_REQUIRE(said.size() == 1u);
      BOOST_TEST(said[0] ==
                 "there is no memory to run the script of --host_discovery; "
                 "the hosts stay as they are");
      if (n % 64 != 1) continue;  // a second run begins after a second
      const auto found = look(lacking, [this] { return said.size() == 2; });
      BOOST_TEST((found == std::vector<LaunchHost>{{"node1", "", 1}}));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_script_that_hangs_is_killed_and_the_job_goes_on) {
  const Folder folder;
  const std::string first = folder.file("first"), later = folder.file("later");
  write_script(first, "exec sleep 1000");
  write_script(later, "echo localhost:2");
  Launched waits({"-np", "2", "--host_discovery", first}, {"/bin/true"});
  Launched runs({"-np", "2", "--host_discovery", later},
                {"/bin/sh", "-c", "echo began; exec sleep 1000"});
  BOOST_REQUIRE(runs.process().prints("worker 1 | began"));
  write_script(later, "exec sleep 1000");
  BOOST_TEST(waits.wait() == 2);
  expect(waits.output(), "launch | waiting for --host_discovery " + first + " to print the hosts");
  expect(waits.output(), "--host_discovery " + first + ": it takes longer than 10 s, so it was killed");
  BOOST_REQUIRE(runs.process().prints("launch | --host_discovery " + later +
                                      ": it takes longer than 10 s, so it was killed; the hosts stay"));
  write_script(later, "echo localhost:2");
  BOOST_REQUIRE(runs.process().prints("launch | --host_discovery " + later + " prints hosts again"));
  runs.expect_processes(2);
  runs.process().send_signal(SIGINT);
  BOOST_TEST(runs.wait() == 130);
  runs.expect_nothing_left();
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
