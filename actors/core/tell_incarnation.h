// Messages that mean something to one incarnation of a task only: whoever comes in its place gets none.
#pragma once

#include <cstdint>
#include <utility>

#include "actors/core/task_context.h"

namespace actorflow {

// any actor -> peer: send this unless that incarnation is known to have gone. No connection is made for
// it after one with that incarnation has broken.
struct ForIncarnation {
  std::uint64_t incarnation = 0;
  Message message;
};

// As tell(), but to this incarnation.
template <class M>
void tell_incarnation(const TaskContext& task, const Sender& to, M message) {
  if (to.task == task.own) return tell(task, to.task, std::move(message));
  caf::anon_send(task.peer(to.task), ForIncarnation{to.incarnation, std::move(message)});
}

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::ForIncarnation)
