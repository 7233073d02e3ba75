// Texts as ids, by a vocabulary that is learned from data, as StringLookup of Keras.
//
//   const StringLookup towns = StringLookup::adapt(rows, {.component = 1});
//   const Dataset examples = rows.map(towns.of_component(1));
//   ... embedding(towns.size(), 8) ...
//
// As with Keras on any backend but TensorFlow, texts become ids while examples are read, and the model
// is given ids. A lookup is a value, cheap to copy, and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/input/dataset.h"
#include "actors/runtime/storage.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

struct StringLookupOptions {
  std::size_t component = 0;    // of the data: the number of the tensor that has the texts
  std::int64_t max_tokens = 0;  // the largest size(): the rarest texts are left out; 0: no limit
};

// Ids: 0 is any text that is not in the vocabulary, which follows from 1 on. Texts are taken as they
// are.
class StringLookup {
 public:
  // The texts of the data, the most frequent first; of equally frequent ones the last in the order of
  // their bytes is the first, as in Keras. Equal data give the same ids. Throws as functions of adapt.h.
  static StringLookup adapt(const Dataset& examples, const StringLookupOptions& options = {});
  // Throws invalid_argument if a text occurs twice.
  explicit StringLookup(std::vector<std::string> vocabulary);

  // The number of ids: the vocabulary and the id of all other texts.
  std::int64_t size() const { return static_cast<std::int64_t>(vocabulary().size()) + 1; }
  const std::vector<std::string>& vocabulary() const;
  std::int64_t id_of(std::string_view text) const;
  // int64 of the shape of strings. Throws invalid_argument for another dtype.
  Tensor operator()(const Tensor& texts) const;
  // For Dataset::map(): the same of one component of each element.
  Dataset::Map of_component(std::size_t component) const;

  // Writes folder/NAME.vocabulary, beside the checkpoints of the model: ids mean what they meant when it
  // was trained. load() throws not_found if there is none, and data_loss if it is damaged.
  void save(Storage& storage, const std::string& folder, const std::string& name) const;
  static StringLookup load(Storage& storage, const std::string& folder, const std::string& name);

  bool operator==(const StringLookup& other) const { return vocabulary() == other.vocabulary(); }

 private:
  struct Table;
  std::shared_ptr<const Table> table_;
};

}  // namespace actorflow
