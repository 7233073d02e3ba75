// A node that applies a row-sparse gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/ops/training_ops.h"

namespace actorflow::test {

// To the variable "table", by gradient descent with a rate of 1, each time that it runs.
inline Output apply_rows(Graph& graph, Output values, Output ids) {
  return graph.add(apply_sparse_gradient_op(), {graph.constant(std::int64_t{-1}), values, ids},
                   {{"variable", "table"},
                    {"optimizer", "sgd"},
                    {"hyperparameters", std::vector<double>{1}},
                    {"replica", std::int64_t{0}},
                    {"train_op", "train"},
                    {"skip_not_finite", false}});
}

}  // namespace actorflow::test
