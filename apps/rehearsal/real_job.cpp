#include "apps/rehearsal/real_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "dataflow/values/error.h"
#include "schema/text_file.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A slow task runs for its share of this.
constexpr auto slow_period = 200ms;

template <class Predicate>
bool has(const FaultPlan& plan, const Predicate& of) {
  return std::ranges::any_of(plan, [&of](const Fault& fault) { return of(fault.kind); });
}

bool is_of_disk(FaultKind kind) { return kind == FaultKind::disk_full; }

std::unique_ptr<MemoryDisk> disk_for(const FaultPlan& plan, const std::string& folder) {
  fs::create_directory(folder);
  return has(plan, is_of_disk) ? std::make_unique<MemoryDisk>(folder) : nullptr;
}

}  // namespace

std::string RealJob::trainer() {
  return fs::read_symlink("/proc/self/exe").replace_filename("trainer").string();
}

RealJob::RealJob(const Scenario& scenario, FaultPlan faults)
    : scenario_(scenario),
      plan_(std::move(faults)),
      folder_("actorflow-real"),
      disk_(disk_for(plan_, folder_.file("disk"))),
      network_(scenario.tasks(), has(plan_, RealNetwork::is_of_network)) {
  for (std::size_t i = 0; i < network_.tasks().size(); ++i) {
    const TaskName& name = network_.tasks()[i];
    tasks_.emplace_back(name, network_.port(i), network_.on(i, command_of(i)),
                        folder_.file(fmt::format("{}-{}.log", name.job, name.index)));
  }
  for (auto& task : tasks_) task.start();
}

RealJob::~RealJob() = default;

// Nothing of our own environment makes it another job.
std::vector<std::string> RealJob::command_of(std::size_t task) const {
  const TaskName& name = network_.tasks()[task];
  std::map<std::string, std::string> hosts;
  for (std::size_t i = 0; i < network_.tasks().size(); ++i) {
    std::string& list = hosts[network_.tasks()[i].job];
    list += (list.empty() ? "" : ",") + network_.address(i);
  }
  TrainFlags train = scenario_.flags().train;
  train.train_steps = scenario_.train().train_steps;
  train.epochs = TrainFlags{}.epochs;
  train.checkpoint_folder = folder_.file("disk/checkpoints");
  train.summary_folder.clear();
  train.plots.clear();
  train.report = folder_.file("report.json");
  std::vector<std::string> command{"/usr/bin/env",
                                   "-u",
                                   "TF_CONFIG",
                                   "-u",
                                   "ACTORFLOW_CREDENTIALS",
                                   "CUDA_VISIBLE_DEVICES=",
                                   trainer(),
                                   "--threads=1",
                                   "--ps_hosts=" + hosts["ps"],
                                   "--worker_hosts=" + hosts["worker"],
                                   "--job_name=" + name.job,
                                   fmt::format("--task_index={}", name.index)};
  std::ranges::move(network_.flags(), std::back_inserter(command));
  std::ranges::move(train.arguments(), std::back_inserter(command));
  return command;
}

bool RealJob::advance() {
  const auto now = RealTime::now();
  if (now - started_ > std::chrono::nanoseconds(scenario_.flags().time_limit))
    throw Error(Code::deadline_exceeded,
                fmt::format("the job hangs: after {:.0f} s{}",
                            std::chrono::duration<double>(now - started_).count(), describe_tasks()));
  if (!all_up_ && std::ranges::all_of(tasks_, &RealTask::is_listening)) {
    all_up_ = now;
    note("all tasks listen");
  }
  end_due(now);
  if (all_up_) begin_due(now);
  if (is_disk_full()) disk_->fill();
  for (auto& task : tasks_) {
    task.hold(is_held(task, now));
    task.look(now);
  }
  if (!is_over()) return true;
  check_end();
  return false;
}

void RealJob::begin_due(RealTime::time_point now) {
  for (; next_fault_ < plan_.size() && now >= *all_up_ + plan_[next_fault_].at; ++next_fault_)
    begin(plan_[next_fault_], now);
}

void RealJob::begin(const Fault& fault, RealTime::time_point now) {
  ++happened_[fault.kind];
  note(fault.to_string());
  if (fault.kind == FaultKind::kill) return task(fault.task).kill();
  if (fault.kind == FaultKind::restart) return task(fault.task).start();
  Lasting& lasting = lasting_.emplace_back(fault, now, now + fault.duration);
  if (fault.kind == FaultKind::power) lose_power(lasting);
  if (RealNetwork::is_of_network(fault.kind)) set_network();
}

void RealJob::end_due(RealTime::time_point now) {
  const auto is_due = [now](const Lasting& lasting) { return lasting.end <= now; };
  for (auto due = lasting_.begin(); (due = std::ranges::find_if(lasting_, is_due)) != lasting_.end();) {
    const Lasting over = *due;
    lasting_.erase(due);
    note(fmt::format("this is over: {}", over.fault.to_string()));
    for (auto* task : over.lost) task->start();
    if (RealNetwork::is_of_network(over.fault.kind)) set_network();
    if (is_of_disk(over.fault.kind) && !is_disk_full()) disk_->make_room();
  }
}

void RealJob::lose_power(Lasting& fault) {
  for (auto& task : tasks_) {
    if (!task.is_running()) continue;
    task.kill();
    fault.lost.push_back(&task);
  }
}

void RealJob::set_network() {
  FaultPlan faults;
  for (const auto& lasting : lasting_) faults.push_back(lasting.fault);
  network_.apply(faults);
}

bool RealJob::is_disk_full() const {
  return std::ranges::any_of(lasting_,
                             [](const Lasting& lasting) { return is_of_disk(lasting.fault.kind); });
}

bool RealJob::is_held(const RealTask& task, RealTime::time_point now) const {
  return std::ranges::any_of(lasting_, [&](const Lasting& lasting) {
    if (lasting.fault.task != task.name()) return false;
    if (lasting.fault.kind == FaultKind::pause) return true;
    return lasting.fault.kind == FaultKind::slow &&
           (now - lasting.begin) % slow_period >= slow_period / FaultSizes::slow_factor;
  });
}

// Whether a task that was killed has another life before it.
bool RealJob::restarts(const RealTask& task) const {
  return std::ranges::any_of(plan_.begin() + static_cast<std::ptrdiff_t>(next_fault_), plan_.end(),
                             [&task](const Fault& fault) {
                               return fault.kind == FaultKind::restart && fault.task == task.name();
                             }) ||
         std::ranges::any_of(lasting_, [&task](const Lasting& lasting) {
           return std::ranges::find(lasting.lost, &task) != lasting.lost.end();
         });
}

bool RealJob::is_over() const {
  return std::ranges::none_of(tasks_, [this](const RealTask& task) {
    return task.is_running() || task.has_failed() || (task.was_killed() && restarts(task));
  });
}

void RealJob::check_end() const {
  for (const auto& task : tasks_)
    if (task.was_killed()) throw Error(Code::aborted, task.describe());
}

TrainReport RealJob::report() const {
  const auto text = read_text_file(folder_.file("report.json"));
  if (!text) throw Error(Code::internal, "all tasks have ended, but no chief has reported");
  return parse_report(*text);
}

const std::string& RealJob::keep_files() {
  tasks_.clear();
  folder_.keep();
  std::error_code ignored;
  // Only this process sees what is on the disk in memory.
  if (disk_)
    fs::copy(folder_.file("disk"), folder_.file("disk-at-the-end"), fs::copy_options::recursive,
             ignored);
  return folder_.path();
}

RealTask& RealJob::task(const TaskName& name) {
  return *std::ranges::find(tasks_, name, &RealTask::name);
}

std::string RealJob::describe_tasks() const {
  std::string text;
  for (const auto& task : tasks_) text += fmt::format("\n  {}", task.describe());
  return text;
}

void RealJob::note(const std::string& event) const {
  const auto since = RealTime::now() - all_up_.value_or(started_);
  std::ofstream(folder_.file("events.log"), std::ios::app)
      << fmt::format("{:8.3f} s  {}\n", std::chrono::duration<double>(since).count(), event);
}

}  // namespace actorflow
