#include "actors/core/fence.h"

#include <fmt/format.h>

#include "actors/probes/point.h"

namespace actorflow {
namespace {

Point fenced_step("a step fenced off");

}  // namespace

Status fenced(std::string_view what, FencingEpoch epoch, const TaskContext& task) {
  return {Code::aborted,
          fmt::format("fenced: {}, but {} is at epoch {} now: the job has been restored or initialised "
                      "since; make a new session",
                      what, task.self.name.to_string(), epoch)};
}

void check_fence(const StateCall& call, FencingEpoch epoch, const TaskContext& task) {
  if (call.epoch >= epoch) return;
  fenced_step.hit();
  throw Error(fenced(fmt::format("node '{}' ({}) belongs to a step of epoch {}", call.node->name,
                                 call.node->op->name, call.epoch),
                     epoch, task));
}

}  // namespace actorflow
