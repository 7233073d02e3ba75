// Examples for estimators.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "actors/input/dataset.h"

namespace actorflow {

// Examples with names, as an input function returns them.
struct NamedExamples {
  // Elements are single examples, not batches: a tensor for each feature, in the order of `features`,
  // then the label, which predict() may be given, too.
  Dataset examples;
  std::vector<std::string> features;
  // Of a training step, of all replicas together.
  std::int64_t batch_size = 128;
  // How often training goes through the examples; 0: without end. Evaluation and prediction do once.
  int num_epochs = 0;
  // Training shuffles all examples, each time anew, which takes as much memory as they do. For more
  // examples say false, and shuffle the dataset by a buffer.
  bool shuffle = true;
};

// Called by each task for itself, when training, evaluation or prediction begins: it gives the same
// examples in each.
using InputFn = std::function<NamedExamples()>;

struct TensorInputOptions {
  std::int64_t batch_size = 128;
  int num_epochs = 0;
  bool shuffle = true;
};
// Features by name whose rows are examples, with labels or without. Throws invalid_argument if the
// numbers of rows differ.
InputFn tensor_input_fn(const std::map<std::string, Tensor>& features, const Tensor& labels,
                        const TensorInputOptions& options = {});
InputFn tensor_input_fn(const std::map<std::string, Tensor>& features,
                        const TensorInputOptions& options = {});

}  // namespace actorflow
