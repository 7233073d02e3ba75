// Pipes whose pairs come key by key: what is done by key behind them needs no shuffle.
//
// Such a pipe has groups(part, index), a cursor over the pairs of the source's part `index`, in which
// all pairs of a key are, one after the other. For one thread:
//   key(), prefix()       the key of the next pair of the source, null at the end, and its hash
//   is_at(key, prefix)    whether there is another value of this key; finds it, which may call functions
//                         of the user
//   value()               that value, valid until advance(); REQUIRES: is_at() was true
//   advance()             goes on behind it
//   pass(key, prefix)     passes over the other values of the key, without calling functions
//   passed()              how many pairs of the source were passed
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "actors/jobs/context/job_context.h"
#include "schema/records/stored_record.h"

namespace actorflow {

template <class Pipe>
concept Grouped = requires(const Pipe& pipe, Part& part) {
  pipe.groups(part, std::size_t{0});
};

// What a step that keeps the keys, and gives one pair at most, makes of each pair.
template <class Before, class K, class V, class Step>
class StepGroups {
 public:
  using Key = K;
  using Value = typename Step::Record::second_type;

  template <class Pipe>
  StepGroups(const Pipe& before, Part& part, std::size_t index, Step step)
      : before_(before.groups(part, index)), step_(std::move(step)) {}

  const K* key() const { return before_.key(); }
  std::uint64_t prefix() const { return before_.prefix(); }
  bool is_at(const StoredRecord<K>& key, std::uint64_t prefix) {
    const auto take = [this](typename Step::Record&& pair) { value_.emplace(std::move(pair.second)); };
    while (!value_ && before_.is_at(key, prefix)) {
      step_(std::pair<K, V>(K(key), before_.value()), take);
      if (!value_) before_.advance();
    }
    return value_.has_value();
  }
  const Value& value() const { return *value_; }
  void advance() {
    value_.reset();
    before_.advance();
  }
  void pass(const StoredRecord<K>& key, std::uint64_t prefix) {
    value_.reset();
    before_.pass(key, prefix);
  }
  std::uint64_t passed() const { return before_.passed(); }

 private:
  Before before_;
  Step step_;
  std::optional<Value> value_;
};

}  // namespace actorflow
