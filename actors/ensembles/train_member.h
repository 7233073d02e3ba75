// A member, trained or asked. Both are pure functions, on one thread, whatever the machine's number of
// cores: so the same bits come of them wherever they run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "actors/ensembles/ensemble_plan.h"

namespace actorflow {

// A record for each member that the work makes.
std::vector<MemberRecord> train_member(const EnsemblePlan& plan, const MemberWork& work);

// The output of a network with these weights for examples in rows, a tensor for each input.
Tensor predict_by(const MemberNetwork& network, const std::map<std::string, Tensor>& weights,
                  const Tuple& x);

}  // namespace actorflow
