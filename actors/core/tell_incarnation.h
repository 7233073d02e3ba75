// Messages that mean something to one incarnation of a task only: whoever is known to be in its place
// gets none.
#pragma once

#include <cstdint>
#include <utility>

#include "actors/core/task_context.h"

namespace actorflow {

// any actor -> peer: send this unless another incarnation is there. No connection is made for it after
// one with that incarnation has broken: who sends it hears of that, as of every lost peer, and has more
// to say only when it has told that the incarnation is StillThere.
struct ForIncarnation {
  std::uint64_t incarnation = 0;
  Message message;
};

// any actor -> peer: another task has heard of this incarnation since, so that a connection with it may
// have broken alone.
struct StillThere {
  std::uint64_t incarnation = 0;
};

// As tell(), but to this incarnation.
template <class M>
void tell_incarnation(const TaskContext& task, const Sender& to, M message) {
  if (to.task == task.own) return tell(task, to.task, std::move(message));
  caf::anon_send(task.peer(to.task), ForIncarnation{to.incarnation, std::move(message)});
}

inline void tell_still_there(const TaskContext& task, const Sender& who) {
  if (who.task != task.own) caf::anon_send(task.peer(who.task), StillThere{who.incarnation});
}

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::ForIncarnation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::StillThere)
