// What a model takes of its examples, by name.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "actors/estimator/feature_column.h"
#include "actors/layers/functional.h"

namespace actorflow {

// An input of a model, and how it is made of the features of an example.
struct ModelInput {
  std::string name;
  std::vector<std::string> keys;  // of the features
  std::string definition;         // for people; equal for equal inputs
  std::function<Tensor(std::span<const Tensor> features)> of;
  SymbolicTensor tensor;
};

// The features of the examples, given to a model function. Throws invalid_argument if one name is asked
// for with two meanings. Not thread-safe.
class Features {
 public:
  // A feature as it comes, of the type that the examples have: [batch, ...].
  SymbolicTensor operator[](const std::string& key);
  // Of a column: float32 [batch, size]; int64 [batch, values], -1 where one is missing.
  SymbolicTensor numbers(const NumericColumn& column);
  SymbolicTensor ids(const CategoricalColumn& column);

  // All that were asked for, in that order.
  const std::vector<ModelInput>& inputs() const { return inputs_; }

 private:
  SymbolicTensor input(ModelInput made);

  std::vector<ModelInput> inputs_;
};

// The columns side by side: float32 [batch, sum of widths], in the order of their names. A numeric
// column has its size as width, a bucketized or indicator column its number of buckets, an embedding its
// dimension. Throws invalid_argument for a categorical column, which has no numbers, for two columns of
// one name, and for none.
SymbolicTensor input_layer(Features& features, const std::vector<FeatureColumn>& columns);

// A weighted sum of the columns and a bias, all of which begin as 0: float32 [batch, units]. A value of
// a categorical column has a weight of its own; those of an example's values are added up.
SymbolicTensor linear_model(Features& features, const std::vector<FeatureColumn>& columns,
                            std::int64_t units = 1);

}  // namespace actorflow
