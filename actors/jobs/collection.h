// The records of a job, spread over parts, and what can be done with them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/jobs/context/job_context.h"
#include "actors/jobs/context/stage_node.h"
#include "actors/jobs/outputs/files_by_key.h"
#include "actors/jobs/outputs/outputs.h"
#include "actors/jobs/outputs/parquet_sink.h"
#include "actors/jobs/partitions/joined.h"
#include "actors/jobs/partitions/keyed.h"
#include "actors/jobs/partitions/sorted.h"
#include "actors/jobs/partitions/sorted_values.h"
#include "actors/jobs/partitions/windows.h"
#include "actors/jobs/sinks/sinks.h"
#include "actors/jobs/sorting/best_of_key.h"
#include "actors/jobs/sorting/top.h"

namespace actorflow {

namespace detail {
template <class T>
struct PairOf {
  using Key = void;
  using Value = void;
};
template <class K, class V>
struct PairOf<std::pair<K, V>> {
  using Key = K;
  using Value = V;
};
}  // namespace detail

template <class Pipe>
class Batches;

// Records of one type, in an order that depends on the input alone. Nothing is computed before an action
// asks for a result: write_...(), collect(), count(), reduce(), fold(), sample(), top(). Operators up to
// the next one that brings records together (..._by_key, sort_..., join, distinct) run as one loop over
// each part.
//
// Functions are copied to the parts, which run at once on several threads: they share nothing but what
// they only read. What is large, such as a table to look up in, they capture by a
// std::shared_ptr<const T>, which all parts share. What they throw ends the job, naming operator, file,
// byte and record. A function f(state, value) that folds gives the new state, or it takes State& and
// changes it, which is quicker for a large one. A record may be, or hold, a std::string_view: it is
// valid within the loop, and what is kept becomes a std::string.
template <class Pipe>
class Collection {
 public:
  using Record = typename Pipe::Record;
  using Where = std::source_location;

  Collection(JobRef job, Pipe pipe) : job_(std::move(job)), pipe_(std::move(pipe)) {}

  // f(record): the record in its place.
  template <class F>
  auto map(F f, Where where = Where::current()) const;
  // f(record): whether the record stays.
  template <class F>
  auto filter(F f, Where where = Where::current()) const;
  // f(record): a range of the records in its place.
  template <class F>
  auto flat_map(F f, Where where = Where::current()) const;
  // Pairs of f(record) and the record.
  template <class F>
  auto key_by(F f, Where where = Where::current()) const;
  // Of pairs (k, v): the keys, or the values.
  auto keys(Where where = Where::current()) const;
  auto values(Where where = Where::current()) const;
  // Of pairs (k, v): (k, f(v)).
  template <class F>
  auto map_values(F f, Where where = Where::current()) const;
  // Of pairs (k, v): those for which f(v) is true.
  template <class F>
  auto filter_values(F f, Where where = Where::current()) const;
  // Of pairs (k, v): (k, w) for each w of the range f(v), such as the elements of a vector v, of which
  // std::identity() is the range.
  template <class F>
  auto flat_map_values(F f, Where where = Where::current()) const;
  // Its records, then those of the other.
  template <class Other>
  auto union_with(const Collection<Other>& other, Where where = Where::current()) const;

  // Of pairs: one for each key, its values folded by f(value, value). f must be associative; values are
  // folded in the order of the input. Throws invalid_argument where the value of one key takes more
  // than the memory of a part: to bring many values of a key together use group_by_key().
  template <class F>
  auto reduce_by_key(F f, Where where = Where::current()) const;
  // The same into states of another type: f(state, value) from `initial` on, and merge(state, state).
  // `initial` must be neutral: merge(initial, state) is the state.
  template <class State, class F, class Merge>
  auto fold_by_key(State initial, F f, Merge merge, Where where = Where::current()) const;
  // Of pairs: (k, vector) with the `n` largest values of each key by what `key_of` (a function or a
  // pointer to a member) gives, the largest first; of equal ones the earlier. So many values of a key are
  // held, at most. Another order is a key of its own: a pair, or a struct with an operator<.
  template <class KeyOf>
  auto top_by_key(std::size_t n, KeyOf key_of, Where where = Where::current()) const;
  // The `n` smallest, the smallest first.
  template <class KeyOf>
  auto bottom_by_key(std::size_t n, KeyOf key_of, Where where = Where::current()) const;
  // Of pairs: how many there are of each key.
  auto count_by_key(Where where = Where::current()) const;
  // Of pairs: f(key, values) for each key, where values is a range that is gone through once, in the
  // order of the input. It need not fit into memory.
  template <class F>
  auto group_by_key(F f, Where where = Where::current()) const;
  // Of pairs: one for each key, with a vector of its values. Throws invalid_argument where these take
  // more than the memory of a part.
  auto group_by_key(Where where = Where::current()) const;
  // Of pairs (k, v) and (k, w): (k, (v, w)) for each of either with equal keys. Neither side need fit
  // into memory, nor the values of one key; a key with much more than its share of the pairs is divided
  // over several parts (hot_keys.h).
  template <class Other>
  auto join(const Collection<Other>& other, Where where = Where::current()) const;
  // Also those of the left without one on the right: (k, (v, none)).
  template <class Other>
  auto left_join(const Collection<Other>& other, Where where = Where::current()) const;
  // Also those of the right without one on the left: (k, (none, w)).
  template <class Other>
  auto outer_join(const Collection<Other>& other, Where where = Where::current()) const;
  // The pairs of the left whose key is one on the right, each once, however often the right has it.
  // Neither side need fit into memory; of the right only the keys are moved.
  template <class Other>
  auto semi_join(const Collection<Other>& other, Where where = Where::current()) const;
  // The pairs of the left whose key is none on the right.
  template <class Other>
  auto anti_join(const Collection<Other>& other, Where where = Where::current()) const;
  // Of pairs (k, v) and (k, w): f(key, lefts, rights) for each key of either, where both are ranges that
  // are gone through once, in the order of the input. They need not fit into memory.
  template <class Other, class F>
  auto co_group(const Collection<Other>& other, F f, Where where = Where::current()) const;
  // Each record once.
  auto distinct(Where where = Where::current()) const;

  // By what `key_of` (a function or a pointer to a member) gives; equal keys stay in the order of the
  // input. NaN counts as the largest number, also within a key.
  template <class KeyOf>
  auto sort_by(KeyOf key_of, SortOrder order = SortOrder::ascending,
               Where where = Where::current()) const;

  // Of pairs: all those of a key one after the other, its values in the order of what `key_of` gives for
  // a value; equal ones stay in the order of the input. The values of a key need not fit into memory.
  // ..._by_key and window() that follow see the values in this order, and need no shuffle, behind
  // map_values(), filter() and filter_values(), too.
  template <class KeyOf>
  auto sort_values_by(KeyOf key_of, SortOrder order = SortOrder::ascending,
                      Where where = Where::current()) const;
  // Of such pairs (k, v): (k, (v, columns...)), where a column says what the place of v among the values
  // of k makes of it: its number, its rank, a running sum, the value before (windows.h). The pairs stay
  // as they were sorted.
  template <class... Columns>
  auto window(Columns... columns) const;

  // In `parts` parts of about equally many records, which are dealt out: as many files are written.
  auto partition_by(std::size_t parts, Where where = Where::current()) const;
  // Records of which `key_of` gives equal keys come into the same part, in the order of the input.
  // `parts`: 0 = by the bytes of the source.
  template <class KeyOf>
  requires(!std::integral<KeyOf>) auto partition_by(KeyOf key_of, std::size_t parts = 0,
                                                    Where where = Where::current()) const;

  // Keeps the records: what is made of them again does not compute them again. In memory as far as they
  // fit.
  auto cache(Where where = Where::current()) const;
  // Pairs of each record's number, from 0 on, and the record.
  auto zip_with_index(Where where = Where::current()) const;

  // Actions.

  // The results that all parts bring to the program must fit into a quarter of JobOptions::memory_bytes,
  // else an action throws resource_exhausted. What a part keeps while it runs must fit into the part's
  // memory, else the action throws invalid_argument.

  // All records. Throws resource_exhausted for more than 64 MiB.
  auto collect(Where where = Where::current()) const;
  std::uint64_t count(Where where = Where::current()) const;
  // The records folded by f(stored, record), in their order; none if there are none.
  template <class F>
  auto reduce(F f, Where where = Where::current()) const;
  // f(state, record) for the records of each part, from `initial` on, then merge(state, state) of the
  // parts, in their order.
  template <class State, class F, class Merge>
  State fold(State initial, F f, Merge merge, Where where = Where::current()) const;
  // `n` records, all if there are fewer, each as likely as any other; the same for the same seed.
  auto sample(std::size_t n, std::uint64_t seed, Where where = Where::current()) const;
  // The `n` largest by what `key_of` gives, the largest first; of equal ones the earlier.
  template <class KeyOf>
  auto top(std::size_t n, KeyOf key_of, Where where = Where::current()) const;
  auto top(std::size_t n, Where where = Where::current()) const;

  // Files in a folder, one for each part, and _SUCCESS when all are there. Throws already_exists for a
  // folder that is not empty (JobOptions::overwrite). Rows: the columns are the fields.
  void write_csv(const std::string& folder, CsvOutput options = {},
                 Where where = Where::current()) const;
  // Lines, of records that are texts without line breaks.
  void write_text(const std::string& folder, FileOutput options = {},
                  Where where = Where::current()) const;
  // Structs as they lie in memory.
  void write_records(const std::string& folder, FileOutput options = {},
                     Where where = Where::current()) const;

  // Rows of Parquet files: the columns are the fields, numbers and texts, which are UTF-8, or optionals
  // of them. A part that is larger than 8 MiB has several row groups. Throws unimplemented where the
  // installation has no Parquet.
  void write_parquet(const std::string& folder, ParquetOutput options = {},
                     Where where = Where::current()) const;

  // Of pairs: the values in a folder for each key, `folder`/`column`=key/part-..., as Hive, Spark and
  // DuckDB read a table that is divided by a column. Keys are whole numbers or texts. Each part writes a
  // file for each of its keys, one after the other, 10,000 at most, and none if it has no pairs; behind
  // partition_by() by the key, or sort_values_by(), there is one for each key. The rest is as above.
  void write_csv_by_key(const std::string& folder, const std::string& column, CsvOutput options = {},
                        Where where = Where::current()) const;
  void write_text_by_key(const std::string& folder, const std::string& column, FileOutput options = {},
                         Where where = Where::current()) const;
  void write_records_by_key(const std::string& folder, const std::string& column,
                            FileOutput options = {}, Where where = Where::current()) const;
  void write_parquet_by_key(const std::string& folder, const std::string& column,
                            ParquetOutput options = {}, Where where = Where::current()) const;

  // So many records at a time as tensors: as a dataset for training, or for a graph that is applied to
  // them. Needs actors/jobs/tensors/batches.h.
  Batches<Pipe> batch(std::int64_t size) const;

  const JobRef& job() const { return job_; }
  const Pipe& pipe() const { return pipe_; }
  template <class Other>
  Collection<Other> with(Other pipe) const {
    return {job_, std::move(pipe)};
  }

 private:
  template <class>
  friend class Collection;
  using Key = typename detail::PairOf<Record>::Key;
  using Value = typename detail::PairOf<Record>::Value;
  static constexpr bool has_keys = !std::is_void_v<Key>;

  // For operators: narrow_operators.h and so on.
  template <class Step>
  auto then(Step step) const;
  PlanStage plan(std::string gives) const;
  StageNodeRef stage_of(std::string gives, std::size_t partitions, StageNode::MakeBody make_body) const;
  template <class Sink, class... Arguments>
  StageNode::MakeBody body_of(Arguments... arguments) const;
  template <class State, class Begin, class Add, class Merge>
  auto combined(const char* kind, Begin begin, Add add, Merge merge, Where where) const;
  template <class KeyOf>
  auto best_by_key(const char* kind, std::size_t n, KeyOf key_of, SortOrder order, Where where) const;
  auto grouped() const;
  template <JoinKind kind, class Other>
  auto joined(const Collection<Other>& other, const char* name, Where where) const;
  template <bool wanted, class Other>
  auto matched(const Collection<Other>& other, const char* name, Where where) const;
  template <class Other>
  TwoPartitionsSource sides_by_key(const Collection<Other>& other, OperatorRef op) const;
  StageNode::MakeBody join_body(JoinSide side, std::shared_ptr<FoundHotKeys> hot) const;
  template <class KeyOf>
  auto sorted(OperatorRef op, KeyOf key_of, SortOrder direction) const;

  // For actions: actions.h.
  std::vector<PartOutcome> run_to(std::string gives, const char* action, Where where,
                                  std::function<void(Part&)> body,
                                  std::optional<ResultLimit> limit = {}) const;
  template <class Format>
  void write(const std::string& folder, Format format, FileOutput options, const char* action,
             Where where) const;
  template <class Sink, class... Arguments>
  void write_by(const std::string& folder, const char* action, Where where,
                Arguments... arguments) const;
  template <class Sink, class... Arguments>
  void write_by_key(const std::string& folder, const std::string& column, const char* action,
                    Where where, Arguments... arguments) const;
  template <class T>
  auto of_values(std::vector<T> records, const char* kind, Where where) const;

  JobRef job_;
  Pipe pipe_;
};

}  // namespace actorflow

#include "actors/jobs/actions.h"
#include "actors/jobs/join_operators.h"
#include "actors/jobs/key_operators.h"
#include "actors/jobs/narrow_operators.h"
#include "actors/jobs/sort_operators.h"
#include "actors/jobs/stage_operators.h"
