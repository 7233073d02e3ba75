#include "schema/environment/task_from_environment.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "dataflow/values/error.h"
#include "schema/cluster_json.h"
#include "schema/environment/elastic_link.h"
#include "schema/environment/rendezvous.h"
#include "schema/environment/reserved_port.h"

namespace actorflow {
namespace {

constexpr const char* timeout_variable = "ACTORFLOW_MEETING_TIMEOUT";

std::int64_t limit_ms() {
  const char* value = std::getenv(timeout_variable);
  if (!value || !*value) return RendezvousOptions().limit_ms;
  constexpr std::int64_t most = 86'400;
  std::int64_t seconds = 0;
  const char* const end = value + std::strlen(value);
  const auto parsed = std::from_chars(value, end, seconds);
  if (parsed.ec != std::errc() || parsed.ptr != end || seconds < 1 || seconds > most)
    throw invalid_argument("the environment variable " + std::string(timeout_variable) + " is '" +
                           value + "', but expected is a number of seconds from 1 to " +
                           std::to_string(most));
  return seconds * 1000;
}

void print(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

TaskConfig meet_others(const LaunchedRank& self,
                       const std::function<void(const std::string&)>& on_wait) {
  static const ReservedPort port;
  return task_of_rank(
      self, meet(self, port.number(), {.limit_ms = limit_ms(), .on_wait = on_wait ? on_wait : print}));
}

}  // namespace

bool has_task_in_environment() { return is_elastic_task() || tf_config() || launched_rank(); }

std::optional<TaskConfig> task_from_environment(const std::function<void(const std::string&)>& on_wait) {
  if (is_elastic_task())
    throw Error(Code::failed_precondition,
                "this program cannot change the number of its tasks while it runs; launch it without "
                "--min, --max and --host_discovery");
  if (const auto text = tf_config()) return parse_tf_config(*text);
  const auto self = launched_rank();
  if (!self) return std::nullopt;
  static const TaskConfig met =
      meet_others(*self, on_wait);  // after an exception, the next call tries again
  return met;
}

TaskConfig task_of_rank(const LaunchedRank& self, const std::vector<std::string>& addresses) {
  const int workers = self.size - self.parameter_servers;
  const auto name = [workers](int rank) {
    return rank < workers ? TaskName{"worker", rank} : TaskName{"ps", rank - workers};
  };
  ClusterSpec::Jobs jobs;
  for (int rank = 0; rank < self.size; ++rank)
    jobs[name(rank).job][name(rank).index] = addresses.at(static_cast<std::size_t>(rank));
  return TaskConfig::make(std::move(jobs), name(self.rank));
}

}  // namespace actorflow
