#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>

#include "actors/client/session.h"
#include "apps/cli/program.h"
#include "apps/cli/security_flags.h"
#include "apps/commands/commands.h"
#include "apps/commands/session_target.h"
#include "dataflow/ops/collective_ops.h"

namespace actorflow {
namespace {

constexpr std::int64_t connect_timeout_ms = 5'000;

struct WaitsCommand {
  std::string target, credentials;
};

// Only the asked task is contacted: others may be those that do not answer.
int run(const WaitsCommand& command) {
  Graph g;
  const Output waits = collective_waits(g);
  Session session(
      target_of(command.target), g,
      {.device_filters = {"/job:nobody"}, .step_timeout_ms = 10'000, .credentials = command.credentials},
      connect_timeout_ms);
  const Tensor lines = session.run(waits);
  if (lines.elements() == 0) fmt::print("the task is in no group of ranks\n");
  for (const auto& line : lines.values<std::string>()) fmt::print("{}\n", line);
  return success;
}

}  // namespace

void add_waits_command(Command& program) {
  auto command = std::make_shared<WaitsCommand>();
  Command sub = program.command(
      "waits",
      "Show which ranks wait in operations of several ranks, for whom, and what those did last");
  sub.option("target", command->target, "Any of the tasks, host:port").required();
  add_credentials(sub, command->credentials);
  sub.runs([command] { return run(*command); });
}

}  // namespace actorflow
