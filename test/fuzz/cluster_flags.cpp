// --ps_hosts, --worker_hosts, --job_name and --task_index: a line each.
#include <algorithm>
#include <charconv>
#include <vector>

#include "dataflow/cluster/task_config.h"
#include "test/fuzz/support/target.h"

using namespace actorflow;

namespace {

std::string next_line(std::string& text) {
  const auto end = std::min(text.find('\n'), text.size());
  std::string line = text.substr(0, end);
  text.erase(0, end + 1);
  return line;
}

ClusterSpec::Tasks tasks(std::string_view flag, const std::string& hosts) {
  ClusterSpec::Tasks tasks;
  for (const auto& address : ClusterSpec::parse_hosts(flag, hosts))
    tasks.emplace(static_cast<int>(tasks.size()), address);
  return tasks;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string flags = fuzz::text(fuzz::input(data, size));
  fuzz::accepts([&] {
    ClusterSpec::Jobs jobs;
    jobs["ps"] = tasks("--ps_hosts", next_line(flags));
    jobs["worker"] = tasks("--worker_hosts", next_line(flags));
    const std::string job = next_line(flags);
    int index = 0;
    std::from_chars(flags.data(), flags.data() + flags.size(), index);
    const TaskConfig config = TaskConfig::make(std::move(jobs), {job, index});
    fuzz::require(config.cluster.contains(config.task) || config.is_evaluator(), "the task is in its cluster");
    const TaskName& task = config.task;
    fuzz::require(TaskName::parse(task.to_string()) == task, "a task's name survives its text");
  });
  const std::string device = fuzz::text(fuzz::input(data, size));
  fuzz::accepts([&] {
    const auto name = DeviceName::parse(device);
    fuzz::require(DeviceName::parse(name.to_string()) == name, "a device's name survives its text");
  });
  return 0;
}
