// Characters of a text, and their numbers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/runtime/storage.h"

namespace actorflow {

// The characters (code points of Unicode) that a text has, numbered from 0 in their order. Immutable.
class Vocabulary {
 public:
  // Throws data_loss, with the place of the first bad byte, if the text is not UTF-8.
  static Vocabulary of(std::string_view text);

  std::int64_t size() const { return static_cast<std::int64_t>(characters_.size()); }
  // Numbers of the characters of a text. Throws invalid_argument, naming the first character that has
  // none, and data_loss as of().
  std::vector<std::int64_t> encode(std::string_view text) const;
  // REQUIRES: the numbers are below size().
  std::string decode(std::span<const std::int64_t> numbers) const;

  // A model and what samples it have to number characters alike, so the vocabulary is saved beside the
  // model's checkpoints: as folder/vocabulary.txt, the characters in their order.
  void save(Storage& storage, const std::string& folder) const;
  // Throws what opening the file throws, and data_loss if it is damaged.
  static Vocabulary load(Storage& storage, const std::string& folder);

  bool operator==(const Vocabulary&) const = default;

 private:
  explicit Vocabulary(std::vector<std::string> characters);

  std::vector<std::string> characters_;  // UTF-8
  std::map<std::string, std::int64_t, std::less<>> numbers_;
};

}  // namespace actorflow
