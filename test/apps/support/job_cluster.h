// A map/reduce job of some processes, for tests: slow_words counts the words of 3,000 lines, at a speed
// that the test says; or another program does its own.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test/apps/support/process.h"
#include "test/support/folder.h"
#include "test/support/hang_limit.h"
#include "test/support/ports.h"

namespace actorflow::test {

using Files = std::map<std::string, std::string>;

// By path in the folder; none of a folder that is not there.
inline Files files_of(const std::string& folder) {
  Files files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder).string()] = read_file(entry.path().string());
  return files;
}

class JobCluster {
 public:
  // `flags`: of the job itself, also where one process runs it alone.
  explicit JobCluster(int tasks, std::vector<std::string> flags = {})
      : addresses_(free_addresses(tasks)), flags_(std::move(flags)), processes_(addresses_.size()) {
    write_text();
    use_program("slow_words", {"--input", file("text"), "--split_bytes", "10000"});
  }

  // Of the program's flags those that say what is read and how. The job has six partitions.
  void use_program(std::string name, std::vector<std::string> input_flags) {
    program_ = std::move(name);
    input_flags_ = std::move(input_flags);
  }

  // Gives each task an address of another host, as the cluster sees it: 127.0.0.1, 127.0.0.2, ...
  void use_several_hosts() {
    for (std::size_t task = 0; task < addresses_.size(); ++task)
      addresses_[task].replace(0, addresses_[task].find(':'), "127.0.0." + std::to_string(task + 1));
  }

  // How many files the program writes, with _SUCCESS.
  void expect_files(std::size_t files) { files_ = files; }

  struct Start {
    int slow_us = 0;  // what a line takes there
    std::string program = {};                   // another than that of the job
    std::vector<std::string> flags = {};        // of this process; they replace those of the job
    std::vector<std::string> environment = {};  // "NAME=value"
  };
  void start(std::size_t task, const Start& how) {
    std::vector<std::string> command{"/usr/bin/env", "SLOW_WORDS_US=" + std::to_string(how.slow_us)};
    add(command, how.environment);
    add(command,
        {ACTORFLOW_BIN_DIR "/" + (how.program.empty() ? program_ : how.program), "--tasks", "1"});
    if (addresses_.size() > 1)
      add(command, {"--cluster", cluster(), "--task_index", std::to_string(task),
                    "--heartbeat_timeout_ms", "1000", "--connect_timeout_ms", "20000"});
    if (task == 0) add(command, job_flags(file("out")));
    set(command, how.flags);
    processes_[task] = std::make_unique<Process>(std::move(command));
  }
  // The flags are for the first task only, which says to the others what the job is.
  void start_all(int slow_us = 0, const std::vector<std::string>& flags = {}) {
    for (std::size_t task = 0; task < addresses_.size(); ++task)
      start(task, {.slow_us = slow_us, .flags = task == 0 ? flags : std::vector<std::string>()});
  }
  const std::string& address(std::size_t task) const { return addresses_[task]; }
  Process& operator[](std::size_t task) { return *processes_[task]; }
  Process& coordinator() { return *processes_[0]; }
  // A path in the job's folder.
  std::string file(const std::string& name) const { return folder_.file(name); }
  void forget(std::size_t task) { processes_[task] = nullptr; }
  void kill_all() {
    for (auto& process : processes_)
      if (process) process->send_signal(SIGKILL);
    for (auto& process : processes_) process = nullptr;
  }

  // All processes end well, and their files are those that one process writes.
  void expect_success() {
    for (auto& process : processes_)
      if (process) expect_end(*process);
    expect_result();
  }
  void expect_result() {
    std::vector<std::string> command{program_, "--tasks", "1", "--overwrite"};
    add(command, job_flags(file("alone")));
    Process alone(std::move(command));
    expect_end(alone);
    BOOST_TEST((files_of(file("out")) == files_of(file("alone"))));
    BOOST_TEST(files_of(file("out")).size() == files_);
  }
  // Every other line, so that its size is another one.
  void change_input() { write_text(2); }

 private:
  static void expect_end(Process& process) {
    const int status = process.wait();
    BOOST_TEST(status == 0, process.output());
  }
  static void add(std::vector<std::string>& command, const std::vector<std::string>& more) {
    command.insert(command.end(), more.begin(), more.end());
  }
  // A flag that is there gets another value.
  static void set(std::vector<std::string>& command, const std::vector<std::string>& flags) {
    for (std::size_t i = 0; i < flags.size(); ++i) {
      const bool has_value = i + 1 < flags.size() && !flags[i + 1].starts_with("--");
      const auto found = std::ranges::find(command, flags[i]);
      if (found == command.end())
        command.insert(command.end(), flags.begin() + static_cast<std::ptrdiff_t>(i),
                       flags.begin() + static_cast<std::ptrdiff_t>(i + 1 + has_value));
      else if (has_value)
        found[1] = flags[i + 1];
      i += has_value;
    }
  }
  void write_text(int step = 1) const {
    std::minstd_rand random(1);
    std::ofstream text(file("text"));
    for (int line = 0; line < 3000; line += step) {
      for (int word = 0; word < 8; ++word) text << "word" << random() % 700 << ' ';
      text << '\n';
    }
  }
  std::string cluster() const {
    std::string list;
    for (const auto& address : addresses_) list += (list.empty() ? "" : ",") + address;
    return list;
  }
  std::vector<std::string> job_flags(const std::string& output) const {
    std::vector<std::string> flags{"--output", output, "--partitions", "6"};
    add(flags, input_flags_);
    add(flags, flags_);
    return flags;
  }

  const Folder folder_;
  std::vector<std::string> addresses_;
  const std::vector<std::string> flags_;
  std::string program_;
  std::size_t files_ = 7;  // 6 parts and _SUCCESS
  std::vector<std::string> input_flags_;
  std::vector<std::unique_ptr<Process>> processes_;
};

// False if that is not so within `hang_limit`.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + hang_limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace actorflow::test
