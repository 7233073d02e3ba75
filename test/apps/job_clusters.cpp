// Map/reduce jobs on several processes, some of which are lost, stopped or slow: the files are those
// that one process writes.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>

#include "test/apps/support/ports.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"

using namespace actorflow::test;

namespace {

using Files = std::map<std::string, std::string>;

Files files_of(const std::string& folder) {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files[entry.path().filename().string()] = read_file(entry.path().string());
  return files;
}

// 3,000 lines of words.
void write_text(const std::string& path) {
  std::minstd_rand random(1);
  std::ofstream file(path);
  for (int line = 0; line < 3000; ++line) {
    for (int word = 0; word < 8; ++word) file << "word" << random() % 700 << ' ';
    file << '\n';
  }
}

// A job of some processes.
class Cluster {
 public:
  explicit Cluster(int tasks, std::vector<std::string> flags = {})
      : addresses_(free_addresses(tasks)), flags_(std::move(flags)), processes_(addresses_.size()) {
    write_text(folder_.file("text"));
  }

  // `slow_us`: what a line takes there.
  void start(std::size_t task, int slow_us = 0, const std::string& program = "slow_words") {
    std::vector<std::string> command{"/usr/bin/env",
                                     "SLOW_WORDS_US=" + std::to_string(slow_us),
                                     ACTORFLOW_BIN_DIR "/" + program,
                                     "--cluster",
                                     cluster(),
                                     "--task_index",
                                     std::to_string(task),
                                     "--tasks",
                                     "1",
                                     "--heartbeat_timeout_ms",
                                     "1000",
                                     "--connect_timeout_ms",
                                     "20000"};
    if (task == 0) add(command, job_flags(folder_.file("out")));
    processes_[task] = std::make_unique<Process>(std::move(command));
  }
  void start_all(int slow_us = 0) {
    for (std::size_t task = 0; task < addresses_.size(); ++task) start(task, slow_us);
  }
  Process& operator[](std::size_t task) { return *processes_[task]; }
  Process& coordinator() { return *processes_[0]; }
  const std::string& folder() const { return path_; }

  void expect_success() {
    for (auto& process : processes_)
      if (process) BOOST_TEST(process->wait() == 0, process->output());
    expect_result();
  }
  void expect_result() {
    std::vector<std::string> command{"slow_words", "--tasks", "1"};
    add(command, job_flags(folder_.file("alone")));
    Process alone(std::move(command));
    BOOST_TEST(alone.wait() == 0, alone.output());
    BOOST_TEST((files_of(folder_.file("out")) == files_of(folder_.file("alone"))));
    BOOST_TEST(files_of(folder_.file("out")).size() == 7u);  // 6 parts and _SUCCESS
  }
  void forget(std::size_t task) { processes_[task] = nullptr; }

 private:
  static void add(std::vector<std::string>& command, const std::vector<std::string>& more) {
    command.insert(command.end(), more.begin(), more.end());
  }
  std::string cluster() const {
    std::string list;
    for (const auto& address : addresses_) list += (list.empty() ? "" : ",") + address;
    return list;
  }
  std::vector<std::string> job_flags(const std::string& output) const {
    std::vector<std::string> flags{"--input", folder_.file("text"), "--output", output, "--split_bytes",
                                   "10000",   "--partitions",       "6"};
    flags.insert(flags.end(), flags_.begin(), flags_.end());
    return flags;
  }

  const Folder folder_;
  const std::string path_ = folder_.path();
  const std::vector<std::string> addresses_;
  const std::vector<std::string> flags_;
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(job_clusters)

BOOST_AUTO_TEST_CASE(three_processes_write_what_one_writes) {
  Cluster job(3);
  job.start_all(100);
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(a_process_that_is_killed_changes_no_byte) {
  Cluster job(4);
  job.start_all(1000);
  BOOST_TEST(job[2].prints("counting"));
  job[2].send_signal(SIGKILL);
  job.forget(2);
  job.expect_success();
  BOOST_TEST(job.coordinator().output().find("run again elsewhere") != std::string::npos,
             job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(a_process_that_comes_back_takes_part) {
  Cluster job(2);
  job.start_all(1000);
  BOOST_TEST(job[1].prints("counting"));
  job[1].send_signal(SIGKILL);
  job.start(1, 1000);
  BOOST_TEST(job[1].prints("counting"));
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(a_process_that_is_stopped_is_not_waited_for) {
  Cluster job(3);
  job.start_all(500);
  BOOST_TEST(job[1].prints("counting"));
  job[1].send_signal(SIGSTOP);
  BOOST_TEST(job.coordinator().wait() == 0, job.coordinator().output());
  BOOST_TEST(job[2].wait() == 0, job[2].output());
  job.expect_result();
  job.forget(1);
}

BOOST_AUTO_TEST_CASE(a_slow_process_is_helped) {
  Cluster job(3);
  job.start(0, 1000);
  job.start(1, 1000);
  job.start(2, 50'000);
  BOOST_TEST(job[2].prints("counting"));
  BOOST_TEST(job.coordinator().wait() == 0, job.coordinator().output());
  job.expect_result();
  BOOST_TEST(job.coordinator().output().find("run twice") != std::string::npos,
             job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(the_others_begin_anew_with_a_new_coordinator) {
  Cluster job(3, {"--overwrite"});
  job.start_all(1000);
  BOOST_TEST(job[1].prints("counting"));
  job.coordinator().send_signal(SIGKILL);
  job.start(0);
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(a_process_without_a_coordinator_says_so_and_ends) {
  Process process({"slow_words", "--cluster", "127.0.0.1:1,127.0.0.1:0", "--task_index", "1",
                   "--connect_timeout_ms", "3000"});
  BOOST_TEST(process.prints("waiting for /job:worker/task:0"), process.output());
  BOOST_TEST(process.wait() == 1);
  BOOST_TEST(process.output().find("says what the job is") != std::string::npos, process.output());
}

BOOST_AUTO_TEST_CASE(another_program_is_refused) {
  Cluster job(2);
  job.start(1, 0, "word_count");
  BOOST_TEST(job[1].prints("waiting for"));
  job.start(0, 1000);
  BOOST_TEST(job[1].wait() == 1);
  BOOST_TEST(job[1].output().find("runs another build of the program") != std::string::npos,
             job[1].output());
  job.forget(1);
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(all_processes_end_with_the_error_of_the_job) {
  Cluster job(2, {"--no_such_parameter", "1"});
  job.start_all(100);
  for (std::size_t task = 0; task < 2; ++task) {
    BOOST_TEST(job[task].wait() != 0);
    BOOST_TEST(job[task].output().find("--no_such_parameter was given") != std::string::npos,
               job[task].output());
  }
}

BOOST_AUTO_TEST_CASE(interrupted_all_of_them_end) {
  Cluster job(3);
  job.start_all(3000);
  BOOST_TEST(job[1].prints("counting"));
  job.coordinator().send_signal(SIGINT);
  for (std::size_t task = 0; task < 3; ++task) BOOST_TEST(job[task].wait() == 130, job[task].output());
}

BOOST_AUTO_TEST_SUITE_END()
