// fit() under each strategy, for what must hold under all.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "actors/models/model.h"

namespace actorflow::test {

// Trains the model as the chief; FitOptions::strategy is replaced.
using FitBy = std::function<void(Model& model, const TrainingData& data, FitOptions options)>;

// By the strategy's name. `another` makes the model of another task of a cluster, which knows nothing of
// what the chief's has learned. REQUIRES: a batch that 2 replicas, and 2 micro-batches, divide.
std::map<std::string, FitBy> each_strategy(const std::function<Model(const Model& chief)>& another);

}  // namespace actorflow::test
