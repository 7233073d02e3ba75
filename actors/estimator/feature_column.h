// Feature columns: how the named features of an example become numbers for a model, by the names of
// TensorFlow's tf.feature_column.
//
//   const auto age = numeric_column("age");
//   const auto town = categorical_column_with_hash_bucket("town", 1000);
//   input_layer(features, {age, bucketized_column(age, {18, 65}), embedding_column(town, 8)});
//
// A feature is a tensor of an example: one value, or several. Text becomes numbers while examples are
// read (README.md); all else is part of the model, also of an exported one. Columns are values, and
// thread-safe. The functions throw invalid_argument for settings that make no sense.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "actors/layers/initializer.h"
#include "dataflow/graph/graph.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

struct NumericColumnOptions {
  std::int64_t size = 1;  // the numbers of an example
  // float32 [batch, size] -> the same: such as (x - mean) / deviation. None: as they are.
  std::function<Output(Output x)> normalizer_fn{};
};
// Numbers, of any dtype but string.
struct NumericColumn {
  std::string key;
  NumericColumnOptions options{};

  const std::string& name() const { return key; }
};
NumericColumn numeric_column(std::string key, NumericColumnOptions options = {});

// Numbers by the range in which they lie: boundaries b0 < b1 < ... make the buckets (-inf, b0),
// [b0, b1), and so on, one more than there are boundaries. NaN is in the first.
struct BucketizedColumn {
  NumericColumn source;
  std::vector<float> boundaries;

  std::string name() const { return source.key + "_bucketized"; }
  std::int64_t buckets() const { return static_cast<std::int64_t>(boundaries.size()) + 1; }
};
// Boundaries are of the numbers as they come: the source has no normalizer_fn.
BucketizedColumn bucketized_column(const NumericColumn& source, std::vector<float> boundaries);

// Values of a finite set, each of which has a number from 0 on.
class CategoricalColumn {
 public:
  using Ids = std::vector<std::int64_t>;
  struct Def {
    std::string name;
    std::vector<std::string> keys;  // of the features that it needs
    std::int64_t num_buckets = 0;
    std::string definition;  // for people; equal for equal columns
    bool hashed = false;
    // The numbers of an example's values, -1 for a missing one. `features` are in the order of the keys.
    std::function<Ids(std::span<const Tensor> features)> ids;
  };
  explicit CategoricalColumn(Def def) : def_(std::make_shared<const Def>(std::move(def))) {}
  // The buckets as categories. Number i of an example's numbers, from 0 on, has buckets of its own.
  CategoricalColumn(const BucketizedColumn& buckets);  // NOLINT: a bucketized column is one

  const Def& def() const { return *def_; }
  const std::string& name() const { return def_->name; }
  std::int64_t num_buckets() const { return def_->num_buckets; }
  // For a column of your own, and for tests.
  Ids ids(std::span<const Tensor> features) const { return def_->ids(features); }

 private:
  std::shared_ptr<const Def> def_;
};

// Categorical columns. In all of them empty text and the integer -1 are missing values, which count
// nowhere.

struct VocabularyOptions {
  std::int64_t default_value = -1;  // the number of a value that is not in the list; -1: as if missing
  // Instead of a default_value: values that are not in the list share these buckets, by hash. Their
  // numbers follow those of the list.
  std::int64_t num_oov_buckets = 0;
};
// A value's number is its place in the list, whose entries differ.
CategoricalColumn categorical_column_with_vocabulary_list(std::string key,
                                                          std::vector<std::string> vocabulary,
                                                          const VocabularyOptions& options = {});
CategoricalColumn categorical_column_with_vocabulary_list(std::string key,
                                                          std::vector<std::int64_t> vocabulary,
                                                          const VocabularyOptions& options = {});
// The number of text is Fingerprint64(text) mod `hash_bucket_size`, as TensorFlow's; integers are hashed
// as their decimal text.
CategoricalColumn categorical_column_with_hash_bucket(std::string key, std::int64_t hash_bucket_size);
// Integers from 0 on below `num_buckets` are their own numbers; others are `default_value`, or an error.
CategoricalColumn categorical_column_with_identity(std::string key, std::int64_t num_buckets,
                                                   std::optional<std::int64_t> default_value = {});

// A feature of text or integers by its key, or a column that is not hashed.
using CrossedKey = std::variant<std::string, CategoricalColumn>;
// All combinations of a value of each, by hash, as TensorFlow's: columns first, then the features, each
// in their order.
CategoricalColumn crossed_column(const std::vector<CrossedKey>& keys, std::int64_t hash_bucket_size);

// Several values of an example count as the mean of their vectors, their sum, or the sum divided by the
// root of their number.
enum class Combiner : std::uint8_t { mean, sum, sqrtn };
struct EmbeddingOptions {
  Combiner combiner = Combiner::mean;
  Initializer initializer{};  // none: normal, truncated, of the deviation 1 / sqrt(dimension)
};
// A trained vector for each category; zeros for an example without a value.
struct EmbeddingColumn {
  CategoricalColumn categorical;
  std::int64_t dimension = 0;
  EmbeddingOptions options{};

  std::string name() const { return categorical.name() + "_embedding"; }
};
EmbeddingColumn embedding_column(const CategoricalColumn& categorical, std::int64_t dimension,
                                 EmbeddingOptions options = {});

// For each category how many of the example's values it has: 0 or 1 for features of one value.
struct IndicatorColumn {
  CategoricalColumn categorical;

  std::string name() const { return categorical.name() + "_indicator"; }
};
IndicatorColumn indicator_column(const CategoricalColumn& categorical);

using FeatureColumn =
    std::variant<NumericColumn, BucketizedColumn, CategoricalColumn, EmbeddingColumn, IndicatorColumn>;
std::string name_of(const FeatureColumn& column);

}  // namespace actorflow
