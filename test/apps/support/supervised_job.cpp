#include "test/apps/support/supervised_job.h"

#include <boost/test/unit_test.hpp>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "test/apps/support/ports.h"

namespace actorflow::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds limit{120};  // only ends a hang
constexpr std::chrono::milliseconds poll_interval{10};

// The only child of a process, or -1.
pid_t child_of(pid_t parent) {
  const std::string id = std::to_string(parent);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  pid_t child = -1;
  children >> child;
  return child;
}

std::string name_of(pid_t process) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), name);
  return name;
}

// The global step of the newest checkpoint in a folder, or -1.
std::int64_t newest_step(const std::string& folder) {
  std::int64_t newest = -1;
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = file.path().filename().string();
    std::int64_t step = -1;
    if (name.starts_with("step-") && name.ends_with(".manifest"))
      std::from_chars(name.data() + 5, name.data() + name.size(), step);
    newest = std::max(newest, step);
  }
  return newest;
}

}  // namespace

SupervisedJob::SupervisedJob(std::vector<std::string> flags, const Lan* machines, int save_steps)
    : machines_(machines), flags_(std::move(flags)) {
  std::vector<std::string> addresses;
  if (machines)
    for (int i = 0; i < num_machines; ++i) addresses.push_back(machines->address(i) + ":2222");
  else
    addresses = free_addresses(num_machines);
  tasks_.push_back({"ps", 0, addresses[0], nullptr});
  tasks_.push_back({"ps", 1, addresses[1], nullptr});
  tasks_.push_back({"chief", 0, addresses[2], nullptr});
  tasks_.push_back({"worker", 0, addresses[3], nullptr});
  tasks_.push_back({"evaluator", 0, "", nullptr});
  flags_.insert(flags_.end(), {"--checkpoint_dir=" + folder_.file("checkpoints"),
                               "--save_checkpoint_steps=" + std::to_string(save_steps),
                               "--report=" + folder_.file("report.json")});
  if (machines) flags_.emplace_back("--allow_remote");
}

std::string SupervisedJob::tf_config(const Task& task) const {
  const auto quoted = [this](std::size_t i) { return "\"" + tasks_[i].address + "\""; };
  return R"({"cluster": {"ps": [)" + quoted(0) + ", " + quoted(1) + R"(], "chief": [)" + quoted(2) +
         R"(], "worker": [)" + quoted(3) + R"(]}, "task": {"type": ")" + task.job + R"(", "index": )" +
         std::to_string(task.index) + "}}";
}

Process& SupervisedJob::start(const std::string& job, int index) {
  Task& task = find(job, index);
  std::vector<std::string> command{
      "/usr/bin/env", "TF_CONFIG=" + tf_config(task), ACTORFLOW_SOURCE_DIR "/apps/supervise", "-d",
      "0.1",          ACTORFLOW_BIN_DIR "/trainer"};
  command.insert(command.end(), flags_.begin(), flags_.end());
  if (machines_ && !task.address.empty())
    command = machines_->on(static_cast<int>(&task - tasks_.data()), std::move(command));
  task.process = std::make_unique<Process>(std::move(command));
  return *task.process;
}

void SupervisedJob::start_all() {
  for (const auto& task : tasks_) start(task.job, task.index);
}

void SupervisedJob::wait_for_step(std::int64_t step) {
  const auto end = Clock::now() + limit;
  while (saved_step() < step) {
    BOOST_REQUIRE_MESSAGE(Clock::now() < end, "no checkpoint of step " << step);
    std::this_thread::sleep_for(poll_interval);
  }
}

std::int64_t SupervisedJob::saved_step() const { return newest_step(folder_.file("checkpoints")); }

void SupervisedJob::expect_output(const std::string& job, int index, const std::string& text) {
  Process& process = *find(job, index).process;
  BOOST_TEST(process.prints(text), job << " " << index << " has not printed '" << text << "' but\n"
                                       << process.output());
}

void SupervisedJob::signal(const std::string& job, int index, int number) {
  const pid_t supervisor = find(job, index).process->id();
  const auto end = Clock::now() + limit;
  pid_t trainer = -1;
  while ((trainer = child_of(supervisor)) < 0 || name_of(trainer) != "trainer") {
    BOOST_REQUIRE_MESSAGE(Clock::now() < end, "no trainer to send a signal to");
    std::this_thread::sleep_for(poll_interval);
  }
  ::kill(trainer, number);
}

void SupervisedJob::kill_all() {
  for (const auto& task : tasks_) kill(task.job, task.index);
}

void SupervisedJob::expect_success() {
  for (auto& task : tasks_) {
    const int status = task.process->wait(limit);
    BOOST_TEST(status == 0, task.job << " " << task.index << " ended with status " << status << ":\n"
                                     << task.process->output());
  }
  const std::string evaluated =
      "\nstep " + std::to_string(saved_step()) + ": test accuracy";
  const std::string output = "\n" + find("evaluator", 0).process->output();
  const auto found = output.find(evaluated);
  BOOST_TEST(found != std::string::npos, output);
  BOOST_TEST(output.find(evaluated, found + 1) == std::string::npos, output);
}

int SupervisedJob::restarts() {
  int count = 0;
  for (auto& task : tasks_) {
    const std::string output = task.process->output();
    for (auto at = output.find("starting it again"); at != std::string::npos;
         at = output.find("starting it again", at + 1))
      ++count;
  }
  return count;
}

SupervisedJob::Task& SupervisedJob::find(const std::string& job, int index) {
  for (auto& task : tasks_)
    if (task.job == job && task.index == index) return task;
  throw std::out_of_range("no such task");
}

}  // namespace actorflow::test
