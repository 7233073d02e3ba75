#include "actors/master/running_step.h"

#include <algorithm>
#include <utility>

namespace actorflow {

RunningStep::RunningStep(std::shared_ptr<const Parts> parts, const StepRequest& request)
    : session_(request.session),
      parts_(std::move(parts)),
      states_(parts_->size(), PartState::untold),
      changes_variables_(request.changes_variables),
      fetches_(request.fetches) {}

void RunningStep::run(std::size_t part) {
  states_[part] = PartState::running;
  ++running_;
}

bool RunningStep::begin_ahead() {
  for (std::size_t part = 0; part < states_.size(); ++part)
    if ((*parts_)[part].begins_ahead) run(part);
  return !is_over();
}

void RunningStep::ask(MasterReplyFn reply) {
  reply_ = std::move(reply);
  for (std::size_t part = 0; part < states_.size(); ++part)
    if (states_[part] == PartState::untold) run(part);
}

std::optional<std::size_t> RunningStep::part_of(TaskId task) const {
  const auto part = std::ranges::find(*parts_, task, &RegisteredPart::task);
  if (part == parts_->end()) return std::nullopt;
  return static_cast<std::size_t>(part - parts_->begin());
}

void RunningStep::add_fetches(StepDone& results) {
  for (auto& [index, tensor] : results.retvals)
    if (index >= 0 && index < std::ssize(fetches_))
      fetches_[static_cast<std::size_t>(index)] = std::move(tensor);
}

void RunningStep::end(std::size_t part) {
  if (runs(part)) --running_;
  states_[part] = PartState::ended;
}

void RunningStep::fail(const Status& reason) {
  if (status_.ok() || (is_derived(status_.code) && !is_derived(reason.code))) status_ = reason;
}

MasterReply RunningStep::take_answer() {
  MasterReply answer;
  answer.status = std::move(status_);
  if (answer.status.ok()) answer.fetches = std::move(fetches_);
  if (tracer_) answer.trace = tracer_->take();
  return answer;
}

}  // namespace actorflow
