// The values of each key with columns that follow from those before and after them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "actors/jobs/partitions/groups.h"
#include "schema/records/stored_record.h"

namespace actorflow {

// A column of a window (actors/jobs/windows.h): begin<V>() makes what computes it for one key, a
// function of each value in turn; what it gives belongs so many rows before that value.
template <class C>
concept WindowColumn = requires(const C& column) {
  { column.rows_ahead() } -> std::same_as<std::size_t>;
};

namespace detail {
template <class Column, class V>
using ColumnState = decltype(std::declval<const Column&>().template begin<V>());
template <class Column, class V>
using ColumnValue = std::decay_t<std::invoke_result_t<ColumnState<Column, V>&, const V&>>;
}  // namespace detail

// A cursor as in step_groups.h. Holds as many rows as its columns look ahead, and one.
template <class Before, class... Columns>
class WindowGroups {
 public:
  using Key = typename Before::Key;
  using V = StoredRecord<typename Before::Value>;
  using Value = std::tuple<V, detail::ColumnValue<Columns, V>...>;

  template <class Pipe>
  WindowGroups(const Pipe& before, Part& part, std::size_t index, OperatorRef op,
               const std::tuple<Columns...>& columns)
      : before_(before.groups(part, index)),
        op_(std::move(op)),
        columns_(columns),
        states_(begin_states()),
        ahead_(
            std::apply([](const auto&... each) { return std::max({each.rows_ahead()...}); }, columns)) {}

  const Key* key() const { return before_.key(); }
  std::uint64_t prefix() const { return before_.prefix(); }
  bool is_at(const StoredRecord<Key>& key, std::uint64_t prefix) {
    for (; rows_.size() <= ahead_ && before_.is_at(key, prefix); before_.advance()) add(before_.value());
    return !rows_.empty();
  }
  const Value& value() const { return rows_.front(); }
  void advance() { rows_.pop_front(); }
  void pass(const StoredRecord<Key>& key, std::uint64_t prefix) {
    rows_.clear();
    added_ = 0;
    states_.emplace(begin_states());
    before_.pass(key, prefix);
  }
  std::uint64_t passed() const { return before_.passed(); }

 private:
  using States = std::tuple<detail::ColumnState<Columns, V>...>;
  static constexpr auto each_column = std::index_sequence_for<Columns...>();

  States begin_states() const {
    return std::apply([](const auto&... each) { return States(each.template begin<V>()...); }, columns_);
  }
  void add(const typename Before::Value& value) {
    rows_.emplace_back();
    std::get<0>(rows_.back()) = stored(value);
    [this]<std::size_t... i>(std::index_sequence<i...>) { (compute<i>(), ...); }
    (each_column);
    ++added_;
  }
  template <std::size_t i>
  void compute() {
    const std::size_t ahead = std::get<i>(columns_).rows_ahead();
    auto& state = std::get<i>(*states_);
    const V& value = std::get<0>(rows_.back());
    auto column = call_user(*op_, state, value);
    if (added_ >= ahead) std::get<i + 1>(rows_[rows_.size() - 1 - ahead]) = std::move(column);
  }

  Before before_;
  const OperatorRef op_;
  const std::tuple<Columns...> columns_;
  std::optional<States> states_;  // functions cannot be assigned
  const std::size_t ahead_;
  std::deque<Value> rows_;
  std::size_t added_ = 0;  // of this key
};

// Pairs of each key and a tuple of a value and the columns.
template <class Before, class... Columns>
struct WindowPipe : GroupsReader<Before> {
  using Groups = WindowGroups<typename GroupsReader<Before>::Groups, Columns...>;
  using Key = typename Groups::Key;
  using Record = std::pair<Key, typename Groups::Value>;

  std::tuple<Columns...> columns;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    auto rows = groups(part, index);
    feed_groups(part, *this->op, rows, [&](const StoredRecord<Key>& key, std::uint64_t prefix) {
      for (; rows.is_at(key, prefix); rows.advance()) next(Record(Key(key), rows.value()));
    });
  }
  Groups groups(Part& part, std::size_t index) const {
    return Groups(this->before, part, index, this->op, columns);
  }
};

}  // namespace actorflow
