#include "test/apps/support/tf_config_cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>

#include "test/support/ports.h"

namespace actorflow::test {

TfConfigCluster::TfConfigCluster(std::vector<std::string> command, const Jobs& jobs, const Jobs& beside,
                                 Lan* machines)
    : command_(std::move(command)), machines_(machines) {
  const auto addresses = addresses_of(jobs);
  auto address = addresses.begin();
  std::vector<std::string> members;
  for (const auto& [job, tasks] : jobs) {
    std::vector<std::string> hosts;
    for (int task = 0; task < tasks; ++task) {
      hosts.push_back(fmt::format("\"{}\"", *address++));
      tasks_.emplace_back(job, task);
    }
    members.push_back(fmt::format(R"("{}": [{}])", job, fmt::join(hosts, ", ")));
  }
  cluster_ = fmt::format("{{{}}}", fmt::join(members, ", "));
  for (const auto& [job, tasks] : beside)
    for (int task = 0; task < tasks; ++task) tasks_.emplace_back(job, task);
}

std::vector<std::string> TfConfigCluster::addresses_of(const Jobs& jobs) {
  std::vector<std::string> names;
  for (const auto& [job, tasks] : jobs)
    for (int task = 0; task < tasks; ++task) names.push_back(fmt::format("{}-{}", job, task));
  if (!machines_) return free_addresses(static_cast<int>(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) machines_->set_name(names[i], static_cast<int>(i));
  for (std::string& name : names) name += ":2222";
  return names;
}

void TfConfigCluster::start(const std::string& job, int task, const std::vector<std::string>& flags) {
  std::vector<std::string> command{
      "/usr/bin/env",
      fmt::format(R"(TF_CONFIG={{"cluster": {}, "task": {{"type": "{}", "index": {}}}}})", cluster_, job,
                  task)};
  command.insert(command.end(), command_.begin(), command_.end());
  command.insert(command.end(), flags.begin(), flags.end());
  if (machines_) {
    const auto machine = std::ranges::find(tasks_, Task(job, task)) - tasks_.begin();
    command = machines_->on(static_cast<int>(machine), std::move(command));
  }
  processes_[{job, task}] = std::make_unique<Process>(std::move(command));
}

void TfConfigCluster::start_all() {
  for (const auto& [job, task] : tasks_) start(job, task);
}

void TfConfigCluster::send_all(int signal) {
  for (const auto& [task, process] : processes_) process->send_signal(signal);
}

void TfConfigCluster::replace(const std::string& job, int task) {
  process(job, task).send_signal(SIGKILL);
  process(job, task).wait();
  start(job, task);
}

void TfConfigCluster::expect_all_end(int status) {
  for (const auto& [task, process] : processes_) {
    const int actual = process->wait();
    BOOST_TEST(actual == status, task.first << " " << task.second << " ended with status " << actual
                                            << ":\n"
                                            << process->output());
  }
}

std::string last_line_with(const std::string& text, Process& process) {
  const std::string output = process.output();
  const auto found = output.rfind(text);
  BOOST_REQUIRE_MESSAGE(found != std::string::npos, output);
  const auto begin = output.rfind('\n', found) + 1;
  const auto end = output.find('\n', found);
  return output.substr(begin, end == std::string::npos ? end : end + 1 - begin);
}

}  // namespace actorflow::test
