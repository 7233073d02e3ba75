#include "actors/core/task_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/core/executable.h"
#include "kernels/core/node_error.h"

namespace actorflow {

TaskId TaskContext::id_of(const TaskName& name) const {
  const auto found = std::ranges::lower_bound(tasks, name);  // they are sorted
  if (found != tasks.end() && *found == name) return static_cast<TaskId>(found - tasks.begin());
  std::string known;
  for (const auto& task : tasks) known += fmt::format(" {}", task.to_string());
  throw invalid_argument("the cluster has no task " + name.to_string() + "; it has" + known);
}

PreparedAnswer::PreparedAnswer(const ReplyTo& to)
    : lane_(to.lane),
      message_(caf::make_mailbox_element(nullptr, caf::make_message_id(), {},
                                         Completed{to.step, to.node, {}, {}})) {}

void PreparedAnswer::complete(std::vector<Tensor> outputs) noexcept {
  message_->content().get_mutable_as<Completed>(0).outputs = std::move(outputs);
  if (lane_) lane_->enqueue(std::move(message_), nullptr);
}

// A call that was moved away is answered by its present owner.
void refuse(const StateCall& call, const Status& why) {
  if (call.executable) fail(call.reply_to, {why.code, naming(*call.node, why.message)});
}

void refuse(const AwaitTensor& request, Status why) { fail(request.reply_to, std::move(why)); }

void refuse(const Fire& fire, const Status& why) {
  fail(fire.reply_to,
       {why.code, naming(*fire.executable->node(fire.reply_to.node).node, why.message)});
}

}  // namespace actorflow
