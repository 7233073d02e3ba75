#include "test/apps/support/trainers.h"

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <nlohmann/json.hpp>

#include "test/support/ports.h"

namespace actorflow::test {

Trainers::Trainers(int ps, int workers, std::vector<std::string> flags,
                   std::vector<std::string> environment, std::string program)
    : flags_(std::move(flags)), environment_(std::move(environment)), program_(std::move(program)) {
  const auto addresses = free_addresses(ps + workers);
  for (int i = 0; i < ps + workers; ++i) {
    const bool is_ps = i < ps;
    tasks_.push_back(
        {is_ps ? "ps" : "worker", is_ps ? i : i - ps, addresses[static_cast<std::size_t>(i)], nullptr});
  }
  flags_.push_back("--report=" + folder_.file("report.json"));
}

std::string Trainers::hosts(const std::string& job, const Task& from) const {
  std::string list;
  for (const auto& task : tasks_)
    if (task.job == job)
      list += (list.empty() ? "" : ",") + (&task == &from ? task.address : way_(task.address));
  return list;
}

Process& Trainers::start(const std::string& job, int task) {
  Task& started = find(job, task);
  std::vector<std::string> command{"/usr/bin/env"};
  command.insert(command.end(), environment_.begin(), environment_.end());
  command.insert(
      command.end(),
      {ACTORFLOW_BIN_DIR "/" + program_, "--job_name=" + job, "--task_index=" + std::to_string(task),
       "--ps_hosts=" + hosts("ps", started), "--worker_hosts=" + hosts("worker", started)});
  command.insert(command.end(), flags_.begin(), flags_.end());
  started.process = std::make_unique<Process>(std::move(command));
  return *started.process;
}

void Trainers::start_all() {
  for (const auto& task : tasks_) start(task.job, task.index);
}

Process& Trainers::task(const std::string& job, int task) { return *find(job, task).process; }

void Trainers::replace(const std::string& job, int task) {
  Process& process = this->task(job, task);
  process.send_signal(SIGKILL);
  BOOST_TEST(process.wait() == 128 + SIGKILL, process.output());
  start(job, task);
}

const std::string& Trainers::address(const std::string& job, int task) {
  return find(job, task).address;
}

void Trainers::expect_success() {
  for (auto& task : tasks_)
    if (task.process) {
      const int status = task.process->wait();
      BOOST_TEST(status == 0, task.job << " " << task.index << " ended with status " << status << ":\n"
                                       << task.process->output());
      BOOST_TEST(!is_listening(task.address));
    }
}

double Trainers::report_number(const std::string& key) const {
  return std::stod(report_value(report_text(), key));
}

std::string Trainers::weights_hash() const { return report_value(report_text(), "weights_hash"); }

Trainers::Task& Trainers::find(const std::string& job, int task) {
  for (auto& candidate : tasks_)
    if (candidate.job == job && candidate.index == task) return candidate;
  throw std::out_of_range("no such task");
}

std::string train_in_one_process(std::vector<std::string> flags) {
  const Folder folder;
  const std::string report = folder.file("report.json");
  std::vector<std::string> command{"actorflow", "train", "mnist", "--report", report};
  command.insert(command.end(), flags.begin(), flags.end());
  Process process(std::move(command));
  const int status = process.wait();
  BOOST_TEST(status == 0, process.output());
  return read_file(report);
}

std::string report_value(const std::string& report, const std::string& key) {
  const auto json = nlohmann::json::parse(report);
  BOOST_REQUIRE(json.contains(key));
  return json[key].dump();
}

}  // namespace actorflow::test
