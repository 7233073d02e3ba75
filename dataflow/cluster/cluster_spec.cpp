#include "dataflow/cluster/cluster_spec.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ranges>

#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"
#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

void add_line(std::string& lines, const std::string& line) {
  lines += (lines.empty() ? "" : "\n") + line;
}

// "" if the address is well formed.
std::string address_mistake(std::string_view address) {
  try {
    HostPort::parse(address);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

// Port 0 is no address yet: several tasks may have it.
bool is_fixed(std::string_view address) { return HostPort::parse(address).port != 0; }

// Of which two tasks may not have the same: "A:01" is "a:1".
std::string plain_address(std::string_view address) {
  const HostPort parsed = HostPort::parse(address);
  std::string host = parsed.host;
  std::ranges::transform(host, host.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return host + ":" + std::to_string(parsed.port);
}

std::string all_mistakes(const ClusterSpec::Jobs& jobs) {
  std::string mistakes;
  std::map<std::string, TaskName> owners;
  for (const auto& [job, tasks] : jobs) {
    if (!is_job_name(job))
      add_line(mistakes, "the job name " + quoted(job) +
                             " must be a letter, followed by letters, digits, '_' and '-'");
    if (tasks.empty()) add_line(mistakes, "job " + quoted(job) + " has no tasks");
    for (const auto& [index, address] : tasks) {
      const TaskName task{job, index};
      if (index < 0)
        add_line(mistakes,
                 "job " + quoted(job) + " has the task index " + std::to_string(index) + " below 0");
      if (const auto mistake = address_mistake(address); !mistake.empty())
        add_line(mistakes, task.to_string() + ": " + mistake);
      else if (const auto [owner, fresh] = owners.emplace(plain_address(address), task);
               !fresh && is_fixed(address))
        add_line(mistakes, task.to_string() + " has the address " + quoted(address) + " of " +
                               owner->second.to_string());
    }
  }
  return mistakes;
}

ClusterSpec::Tasks dense_tasks(const std::vector<std::string>& addresses) {
  ClusterSpec::Tasks tasks;
  for (const auto& address : addresses) tasks.emplace(static_cast<int>(tasks.size()), address);
  return tasks;
}

std::string indices(const ClusterSpec::Tasks& tasks) {
  return joined(tasks, ", ", [](const auto& task) { return std::to_string(task.first); });
}

}  // namespace

ClusterSpec::ClusterSpec(std::initializer_list<std::pair<std::string, std::vector<std::string>>> jobs) {
  std::string mistakes;
  for (const auto& [job, addresses] : jobs)
    if (!jobs_.emplace(job, dense_tasks(addresses)).second)
      add_line(mistakes, "job " + quoted(job) + " is named twice");
  if (const auto others = all_mistakes(jobs_); !others.empty()) add_line(mistakes, others);
  if (!mistakes.empty()) throw invalid_argument("bad cluster specification:\n" + mistakes);
}

ClusterSpec::ClusterSpec(Jobs jobs) : jobs_(std::move(jobs)) {
  if (const auto mistakes = all_mistakes(jobs_); !mistakes.empty())
    throw invalid_argument("bad cluster specification:\n" + mistakes);
}

std::vector<std::string> ClusterSpec::parse_hosts(std::string_view flag, std::string_view value) {
  std::vector<std::string> addresses;
  std::string mistakes;
  for (std::size_t begin = 0; !value.empty() && begin <= value.size();) {
    const auto end = std::min(value.find(',', begin), value.size());
    addresses.emplace_back(value.substr(begin, end - begin));
    if (const auto mistake = address_mistake(addresses.back()); !mistake.empty())
      add_line(mistakes, std::string(flag) + ": " + mistake);
    begin = end + 1;
  }
  if (!mistakes.empty()) throw invalid_argument(mistakes);
  return addresses;
}

std::vector<std::string> ClusterSpec::jobs() const {
  std::vector<std::string> names;
  for (const auto& entry : jobs_) names.push_back(entry.first);
  return names;
}

bool ClusterSpec::contains(const TaskName& task) const {
  const auto job = jobs_.find(task.job);
  return job != jobs_.end() && job->second.contains(task.index);
}

const ClusterSpec::Tasks& ClusterSpec::tasks(std::string_view job) const {
  if (const auto found = jobs_.find(job); found != jobs_.end()) return found->second;
  const auto names = std::views::keys(jobs_);
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw invalid_argument("the cluster has no job " + quoted(job) + "; it has " +
                         (known.empty() ? "no jobs" : joined(known, ", ", quoted)) +
                         did_you_mean(job, known));
}

int ClusterSpec::num_tasks(std::string_view job) const { return static_cast<int>(tasks(job).size()); }

const std::string& ClusterSpec::address(const TaskName& task) const {
  const auto& known = tasks(task.job);
  if (const auto found = known.find(task.index); found != known.end()) return found->second;
  const bool dense = known.rbegin()->first + 1 == static_cast<int>(known.size());
  throw invalid_argument("task index " + std::to_string(task.index) + " is outside job " +
                         quoted(task.job) + ", which has " + std::to_string(known.size()) + " tasks" +
                         (dense ? "" : " with the indices " + indices(known)));
}

std::vector<TaskName> ClusterSpec::all_tasks() const {
  std::vector<TaskName> all;
  for (const auto& [job, tasks] : jobs_)
    for (const auto& entry : tasks) all.push_back({job, entry.first});
  return all;
}

HostPort HostPort::parse(std::string_view address) {
  const auto malformed = [address] {
    return invalid_argument(
        "the address " + quoted(address) +
        " is malformed; expected host:port or [ipv6]:port with a port of 0 to 65535");
  };
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos) throw malformed();
  auto host = address.substr(0, colon);
  const auto digits = address.substr(colon + 1);
  int port = -1;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || stop != digits.data() + digits.size() || port < 0 || port > 65535)
    throw malformed();
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto allowed = [bracketed](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '-' || c == '_' || (bracketed && (c == ':' || c == '%'));
  };
  if (host.empty() || !std::ranges::all_of(host, allowed)) throw malformed();
  return {std::string(host), port};
}

}  // namespace actorflow
