// Reads the examples of an input as a model takes them. For this folder only.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "actors/estimator/features.h"
#include "actors/estimator/input.h"
#include "dataflow/graph/tensor_types.h"

namespace actorflow {

// Thread-safe; copies are cheap enough for a stage of a dataset.
class ExampleReader {
 public:
  using Label = std::function<Tensor(const Tensor& label)>;

  // Throws invalid_argument if the input lacks a feature, or names one twice. `labels`: their number;
  // without labels those of the examples are left out.
  ExampleReader(const NamedExamples& input, const std::vector<ModelInput>& wanted, std::size_t labels,
                bool with_labels, Label label);

  // Throws invalid_argument for an example with another number of tensors, and what columns throw.
  Tuple operator()(const Tuple& example) const;

 private:
  struct Made {
    std::vector<std::size_t> places;  // of the features
    std::function<Tensor(std::span<const Tensor>)> of;
  };

  void check(const Tuple& example) const;

  std::vector<Made> made_;
  std::size_t features_, labels_;
  bool with_labels_;
  Label label_;
};

}  // namespace actorflow
