// The tasks of a cluster and their addresses.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataflow/cluster/device_name.h"

namespace actorflow {

// Jobs by name; each has tasks by index, and each task an address "host:port" or "[ipv6]:port". Port 0
// lets the task pick a free one. Immutable; thread-safe.
//
//   ClusterSpec{{"ps", {"10.0.0.1:2222"}}, {"worker", {"10.0.0.2:2222", "10.0.0.3:2222"}}}
class ClusterSpec {
 public:
  using Tasks = std::map<int, std::string>;  // index -> address; may have holes
  using Jobs = std::map<std::string, Tasks, std::less<>>;

  ClusterSpec() = default;  // No jobs: the cluster of a program that runs alone.
  // Throw one invalid_argument that lists every mistake: bad job names, indices and addresses, an
  // address of two tasks, a job that is named twice or has no tasks.
  ClusterSpec(std::initializer_list<std::pair<std::string, std::vector<std::string>>> jobs);
  explicit ClusterSpec(Jobs jobs);

  // The addresses in the value of a flag such as "--ps_hosts=h1:2222,h2:2222"; none for an empty value.
  // Throws invalid_argument that names the flag and every malformed address.
  static std::vector<std::string> parse_hosts(std::string_view flag, std::string_view value);

  std::vector<std::string> jobs() const;  // in order of their names
  bool contains(const TaskName& task) const;
  // The tasks of a job, their number, the address of a task. Throw invalid_argument that names the
  // unknown job or index and the known ones.
  const Tasks& tasks(std::string_view job) const;
  int num_tasks(std::string_view job) const;
  const std::string& address(const TaskName& task) const;
  // The names of all tasks, in order of job and index.
  std::vector<TaskName> all_tasks() const;

  bool operator==(const ClusterSpec&) const = default;

 private:
  Jobs jobs_;
};

// The parts of "host:port" or "[ipv6]:port", the latter without its brackets. Throws invalid_argument.
struct HostPort {
  std::string host;
  int port = 0;

  static HostPort parse(std::string_view address);
};

}  // namespace actorflow
