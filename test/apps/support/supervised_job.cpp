#include "test/apps/support/supervised_job.h"

#include <boost/test/unit_test.hpp>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "test/support/hang_limit.h"
#include "test/support/ports.h"

namespace actorflow::test {
namespace {

using Clock = std::chrono::steady_clock;
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

SupervisedJob::SupervisedJob(std::vector<std::string> flags, Lan* machines, int save_steps)
    : machines_(machines), flags_(std::move(flags)) {
  std::vector<std::string> addresses = free_addresses(num_machines);
  if (machines) {
    const std::vector<std::string> names{"ps-0", "ps-1", "chief-0", "worker-0", "worker-1"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      machines->set_name(names[i], static_cast<int>(i));
      addresses[i] = names[i] + ":2222";
    }
  }
  tasks_.push_back({"ps", 0, addresses[0], ps_0});
  tasks_.push_back({"ps", 1, addresses[1], ps_1});
  tasks_.push_back({"chief", 0, addresses[2], chief_0});
  tasks_.push_back({"worker", 0, addresses[3], worker_0});
  tasks_.push_back({"worker", 1, addresses[4], worker_1});
  tasks_.push_back({"evaluator", 0, ""});
  flags_.insert(flags_.end(), {"--checkpoint_dir=" + checkpoints(),
                               "--save_checkpoint_steps=" + std::to_string(save_steps),
                               "--report=" + folder_.file("report.json")});
  if (machines) flags_.emplace_back("--insecure");
}

std::string SupervisedJob::tf_config(const Task& task) const {
  const auto quoted = [this](std::size_t i) { return "\"" + tasks_[i].address + "\""; };
  return R"({"cluster": {"ps": [)" + quoted(0) + ", " + quoted(1) + R"(], "chief": [)" + quoted(2) +
         R"(], "worker": [)" + quoted(3) + ", " + quoted(4) + R"(]}, "task": {"type": ")" + task.job +
         R"(", "index": )" + std::to_string(task.index) + "}}";
}

Process& SupervisedJob::start(const std::string& job, int index) {
  Task& task = find(job, index);
  std::vector<std::string> command{"/usr/bin/env",
                                   "TF_CONFIG=" + tf_config(task),
                                   ACTORFLOW_BIN_DIR "/actorflow",
                                   "supervise",
                                   "--pause",
                                   "0.1",
                                   "--longest_pause",
                                   "0.1",
                                   ACTORFLOW_BIN_DIR "/trainer"};
  command.insert(command.end(), flags_.begin(), flags_.end());
  if (machines_ && task.machine >= 0) command = machines_->on(task.machine, std::move(command));
  task.process = std::make_unique<Process>(std::move(command));
  return *task.process;
}

std::unique_ptr<Process> SupervisedJob::start_elsewhere(const std::string& job, int index, int machine) {
  Task& task = find(job, index);
  std::unique_ptr<Process> earlier = std::move(task.process);
  machines_->set_name(job + "-" + std::to_string(index), machine);
  task.machine = machine;
  start(job, index);
  return earlier;
}

void SupervisedJob::start_all() {
  for (const auto& task : tasks_) start(task.job, task.index);
}

void SupervisedJob::wait_for_step(std::int64_t step) {
  const auto end = Clock::now() + hang_limit;
  while (saved_step() < step) {
    BOOST_REQUIRE_MESSAGE(Clock::now() < end, "no checkpoint of step " << step);
    std::this_thread::sleep_for(poll_interval);
  }
}

std::int64_t SupervisedJob::saved_step() const { return newest_step(checkpoints()); }

void SupervisedJob::expect_output(const std::string& job, int index, const std::string& text) {
  Process& process = *find(job, index).process;
  BOOST_TEST(process.prints(text), job << " " << index << " has not printed '" << text << "' but\n"
                                       << process.output());
}

void SupervisedJob::signal(const std::string& job, int index, int number) {
  ::kill(trainer(job, index), number);
}

pid_t SupervisedJob::trainer(const std::string& job, int index) {
  const pid_t supervisor = find(job, index).process->id();
  const auto end = Clock::now() + hang_limit;
  pid_t process = -1;
  while ((process = child_of(supervisor)) < 0 || name_of(process) != "trainer") {
    BOOST_REQUIRE_MESSAGE(Clock::now() < end, "no trainer to send a signal to");
    std::this_thread::sleep_for(poll_interval);
  }
  return process;
}

void SupervisedJob::kill_all() {
  for (const auto& task : tasks_) kill(task.job, task.index);
}

void SupervisedJob::expect_success() {
  for (auto& task : tasks_) {
    const int status = task.process->wait();
    BOOST_TEST(status == 0, task.job << " " << task.index << " ended with status " << status << ":\n"
                                     << task.process->output());
  }
  const std::string evaluated = "\nstep " + std::to_string(saved_step()) + ": test accuracy";
  const std::string output = "\n" + find("evaluator", 0).process->output();
  const auto found = output.find(evaluated);
  BOOST_TEST(found != std::string::npos, output);
  BOOST_TEST(output.find(evaluated, found + 1) == std::string::npos, output);
}

std::string SupervisedJob::output() const {
  std::string all;
  for (const auto& task : tasks_) all += task.process->output();
  return all;
}

int SupervisedJob::restarts() const {
  const std::string text = output();
  int count = 0;
  for (auto at = text.find("starting it again"); at != std::string::npos;
       at = text.find("starting it again", at + 1))
    ++count;
  return count;
}

SupervisedJob::Task& SupervisedJob::find(const std::string& job, int index) {
  for (auto& task : tasks_)
    if (task.job == job && task.index == index) return task;
  throw std::out_of_range("no such task");
}

}  // namespace actorflow::test
