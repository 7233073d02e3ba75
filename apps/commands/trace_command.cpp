#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "actors/client/record_job.h"
#include "apps/cli/program.h"
#include "apps/cli/security_flags.h"
#include "apps/commands/commands.h"
#include "apps/commands/session_target.h"
#include "dataflow/ops/trace_ops.h"

namespace actorflow {
namespace {

struct TraceCommand {
  std::string target, output = "trace.json", credentials;
  std::int64_t milliseconds = 100, connect_timeout_ms = 10'000;
};

double percent(std::int64_t part_us, const TaskShare& share) {
  return share.spanned_us > 0
             ? 100.0 * static_cast<double>(part_us) / static_cast<double>(share.spanned_us)
             : 0.0;
}

void print(const TaskShare& share) {
  fmt::print("{}: {} steps, {} nodes, {} messages sent and {} received; computes {:.0f} %\n", share.task,
             share.steps, share.nodes, share.sent, share.received, percent(share.computed_us, share));
  for (const auto& wait : share.waited)
    fmt::print("  waits for {} {:.0f} %\n", wait.peer.empty() ? "its own threads" : wait.peer,
               percent(wait.waited_us, share));
  if (share.woken_us > 0)
    fmt::print("  begins, after a message has come {:.0f} %\n", percent(share.woken_us, share));
}

// Nobody runs a step, or none has begun and ended in the time.
void expect_nodes(const std::vector<TaskShare>& all, std::int64_t milliseconds) {
  if (std::ranges::any_of(all, [](const TaskShare& share) { return share.nodes > 0; })) return;
  throw Error(Code::failed_precondition,
              fmt::format("no task began and ended its part of a step within {} ms; is a step longer "
                          "(--ms), or does nobody run one?",
                          milliseconds));
}

int run(const TraceCommand& command) {
  const JobTrace trace =
      record_job(target_of(command.target),
                 {.time = std::chrono::milliseconds(command.milliseconds),
                  .credentials = command.credentials,
                  .connect_timeout = std::chrono::milliseconds(command.connect_timeout_ms)});
  const auto all = shares(trace);
  expect_nodes(all, command.milliseconds);
  write_chrome_trace(trace, command.output);
  for (const auto& share : all) print(share);
  for (const auto& task : trace.tasks)
    if (task.dropped > 0)
      fmt::print("{} has dropped {} events; record fewer milliseconds\n", task.task, task.dropped);
  fmt::print("{}: open it in ui.perfetto.dev or chrome://tracing\n", command.output);
  return success;
}

}  // namespace

void add_trace_command(Command& program) {
  auto command = std::make_shared<TraceCommand>();
  Command sub = program.command("trace",
                                "Record what all tasks of a running job do for a moment: one file with "
                                "the nodes, messages and waits of each");
  sub.option("target", command->target, "Any of the tasks, host:port").required();
  sub.option("--output,-o", command->output, "The file: JSON for ui.perfetto.dev").show_default();
  sub.option("--ms", command->milliseconds, "How long; at least two steps")
      .check(in_range<std::int64_t>(1, max_record_milliseconds))
      .show_default();
  sub.option("--connect_timeout", command->connect_timeout_ms, "ms to reach the task").show_default();
  add_credentials(sub, command->credentials);
  sub.runs([command] { return run(*command); });
}

}  // namespace actorflow
