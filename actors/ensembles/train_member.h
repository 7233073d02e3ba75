// Training a member, and predicting by it. Both are pure functions that use one thread, whatever the
// number of cores: they give the same bits wherever they run.
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
