// What ops that update variables have in common: attributes and checks. For dataflow/ops only.
#pragma once

#include <vector>

#include "dataflow/graph/op.h"

namespace actorflow {

std::vector<AttrDef> update_attrs();  // variable, optimizer, hyperparameters, skip_not_finite

// Each throws through InferContext::fail.
void expect_gradient(const InferContext& c, int input);
void expect_optimizer(const InferContext& c);
// As expect_optimizer(), and the variable.
void expect_update(const InferContext& c);
void expect_learning_rate(const InferContext& c, int input);
// Values and the indices of their rows, behind each other.
void expect_rows(const InferContext& c, int first);

}  // namespace actorflow
