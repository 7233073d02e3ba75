// A rank's call of an operation.
#pragma once

#include <functional>
#include <string>

#include "actors/collectives/operation/operation.h"
#include "actors/core/messages.h"
#include "dataflow/collectives/agreement.h"

namespace actorflow {

// Its dtype and dimensions are those of the tensor (describe()). `reply` is called once, unless the call
// is given up.
struct GroupCall {
  std::string name;
  CollectiveCall call;
  RankInput own;
  std::function<void(CollectiveResult)> reply;
  StepId step = 0;     // of a graph's node; 0: a program's call
  bool waits = false;  // a thread does nothing else meanwhile
};

// Sets the call's dtype and dimensions from its tensor, for the agreement. For gathers and all-to-alls
// without the number of rows, in which ranks may differ.
void describe(GroupCall& call);
// Throws invalid_argument for a call that no rank can make.
void check(const GroupCall& call, int ranks);
void answer(const GroupCall& call, CollectiveResult result);

}  // namespace actorflow
