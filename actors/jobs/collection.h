// The records of a job, spread over parts, and what can be done with them.
#pragma once

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

#include "actors/jobs/job_context.h"
#include "actors/jobs/keyed.h"
#include "actors/jobs/outputs.h"
#include "actors/jobs/pipes.h"
#include "actors/jobs/sinks.h"
#include "actors/jobs/sorted.h"
#include "actors/jobs/top.h"

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

// Records of one type, in an order that depends on the input alone. Nothing is computed before an action
// asks for a result: write_...(), collect(), count(), reduce(), fold(), sample(), top(). Operators up to
// the next one that brings records together (..._by_key, sort_by, join, distinct) run as one loop over
// each part.
//
// Functions are copied to the parts, which run at once on several threads: they share nothing but what
// they only read. What they throw ends the job, naming operator, file, byte and record. A record may be,
// or hold, a std::string_view: it is valid within the loop, and what is kept becomes a std::string.
template <class Pipe>
class Collection {
 public:
  using Record = typename Pipe::Record;
  using Where = std::source_location;

  Collection(JobRef job, Pipe pipe) : job_(std::move(job)), pipe_(std::move(pipe)) {}

  // f(record): the record in its place.
  template <class F>
  auto map(F f, Where where = Where::current()) const {
    using Step = MapStep<Record, F>;
    return then(Step{std::move(f), make_operator<typename Step::Record>("map", where)});
  }
  // f(record): whether the record stays.
  template <class F>
  auto filter(F f, Where where = Where::current()) const {
    return then(FilterStep<Record, F>{std::move(f), make_operator<Record>("filter", where)});
  }
  // f(record): a range of the records in its place.
  template <class F>
  auto flat_map(F f, Where where = Where::current()) const {
    using Step = FlatMapStep<Record, F>;
    return then(Step{std::move(f), make_operator<typename Step::Record>("flat_map", where)});
  }
  // Pairs of f(record) and the record.
  template <class F>
  auto key_by(F f, Where where = Where::current()) const {
    auto pair = [f = std::move(f)](Record record) {
      auto key = std::invoke(f, std::as_const(record));
      return std::pair<decltype(key), Record>(std::move(key), std::move(record));
    };
    using Step = MapStep<Record, decltype(pair)>;
    return then(Step{std::move(pair), make_operator<typename Step::Record>("key_by", where)});
  }
  // Its records, then those of the other.
  template <class Other>
  auto union_with(const Collection<Other>& other, Where where = Where::current()) const {
    return with(UnionPipe<Pipe, Other>{pipe_, other.pipe(), make_operator<Record>("union_with", where)});
  }

  // Of pairs: one for each key, its values folded by f(value, value). f must be associative; values are
  // folded in the order of the input. Memory that values hold besides themselves (of texts, vectors) is
  // not counted: to bring many values of a key together use group_by_key().
  template <class F>
  auto reduce_by_key(F f, Where where = Where::current()) const {
    using K = Key;
    using V = Value;
    const auto op = make_operator<std::pair<K, StoredRecord<V>>>("reduce_by_key", where);
    auto stage =
        stage_of("a shuffle by key, combined", 0, [pipe = pipe_, f, op](JobContext&, std::size_t partitions) {
          return [=](Part& part) {
            CombineSink<K, V, F> sink(part, partitions, f, op);
            run_into(sink, pipe, part);
          };
        });
    return with(ReducePipe<K, StoredRecord<V>, F>{stage, std::move(f), op});
  }
  // Of pairs: how many there are of each key.
  auto count_by_key(Where where = Where::current()) const {
    return map([](Record record) { return std::pair<Key, std::int64_t>(std::move(record.first), 1); },
               where)
        .reduce_by_key(std::plus<>(), where);
  }
  // Of pairs: f(key, values) for each key, where values is a range that is gone through once, in the
  // order of the input. It need not fit into memory.
  template <class F>
  auto group_by_key(F f, Where where = Where::current()) const {
    using K = Key;
    using V = Value;
    using Grouped = GroupPipe<K, V, F>;
    return with(Grouped{shuffled(), std::move(f),
                        make_operator<typename Grouped::Record>("group_by_key", where)});
  }
  // Of pairs: one for each key, with a vector of its values, which must fit into memory.
  auto group_by_key(Where where = Where::current()) const {
    using K = Key;
    using V = Value;
    return group_by_key(
        [](const K& key, const auto& values) {
          std::pair<StoredRecord<K>, std::vector<StoredRecord<V>>> group{stored(key), {}};
          for (const V& value : values) group.second.push_back(stored(value));
          return group;
        },
        where);
  }
  // Of pairs (k, v) and (k, w): (k, (v, w)) for each of either with equal keys.
  template <class Other>
  auto join(const Collection<Other>& other, Where where = Where::current()) const {
    return joined<JoinKind::inner>(other, "join", where);
  }
  // Also those of the left without one on the right: (k, (v, none)).
  template <class Other>
  auto left_join(const Collection<Other>& other, Where where = Where::current()) const {
    return joined<JoinKind::left>(other, "left_join", where);
  }
  // Also those of the right without one on the left: (k, (none, w)).
  template <class Other>
  auto outer_join(const Collection<Other>& other, Where where = Where::current()) const {
    return joined<JoinKind::outer>(other, "outer_join", where);
  }
  // Each record once.
  auto distinct(Where where = Where::current()) const {
    return map([](Record record) { return std::pair<Record, std::uint8_t>(std::move(record), 0); },
               where)
        .reduce_by_key([](std::uint8_t a, std::uint8_t) { return a; }, where)
        .map([](auto pair) { return std::move(pair.first); }, where);
  }

  // By what `key_of` (a function or a pointer to a member) gives; equal keys stay in the order of the
  // input.
  template <class KeyOf>
  auto sort_by(KeyOf key_of, SortOrder order = SortOrder::ascending,
               Where where = Where::current()) const {
    if constexpr (!Pipe::is_cheap)
      return cache(where).sort_by(std::move(key_of), order, where);
    else
      return sorted(KeyOrder<Record, KeyOf>(std::move(key_of), order), where);
  }

  // Keeps the records: what is made of them again does not compute them again. In memory as far as they
  // fit.
  auto cache(Where where = Where::current()) const {
    auto stage = stage_of("records that are kept", 1, [pipe = pipe_](JobContext&, std::size_t) {
      return [=](Part& part) {
        KeepSink<Record> sink(part);
        run_into(sink, pipe, part);
      };
    });
    return with(KeptPipe<Record>{stage, make_operator<Record>("cache", where)});
  }
  // Pairs of each record's number, from 0 on, and the record.
  auto zip_with_index(Where where = Where::current()) const {
    auto kept = cache(where);
    return kept.with(NumberedPipe<Record>{
        kept.pipe().stage, make_operator<std::pair<std::int64_t, Record>>("zip_with_index", where)});
  }

  // Actions.

  // All records. Throws resource_exhausted for more than 64 MiB.
  auto collect(Where where = Where::current()) const {
    const auto outcomes = run_to("the program", "collect", where, [pipe = pipe_](Part& part) {
      CollectSink<Record> sink(part);
      run_into(sink, pipe, part);
    });
    return collected(outcomes);
  }
  std::uint64_t count(Where where = Where::current()) const {
    const auto outcomes = run_to("the program", "count", where, [pipe = pipe_](Part& part) {
      std::uint64_t records = 0;
      pipe.run(part, part.index(), [&records](Record&&) { ++records; });
      part.count_records(records);
    });
    std::uint64_t records = 0;
    for (const auto& outcome : outcomes) records += outcome.records;
    return records;
  }
  // The records folded by f(stored, record), in their order; none if there are none.
  template <class F>
  auto reduce(F f, Where where = Where::current()) const {
    using Stored = StoredRecord<Record>;
    const auto op = make_operator<Record>("reduce", where);
    const auto outcomes = run_to("the program", "reduce", where, [pipe = pipe_, f, op](Part& part) {
      std::optional<Stored> folded;
      F own = f;
      pipe.run(part, part.index(), [&](Record&& record) {
        if (folded)
          folded = call_user(*op, own, std::move(*folded), std::move(record));
        else
          folded = stored(record);
      });
      set_result(part, folded);
    });
    std::optional<Stored> folded;
    for (const auto& part : results<std::optional<Stored>>(outcomes))
      if (part) folded = folded ? Stored(f(std::move(*folded), Record(*part))) : *part;
    return folded;
  }
  // f(state, record) for the records of each part, from `initial` on, then merge(state, state) of the
  // parts, in their order.
  template <class State, class F, class Merge>
  State fold(State initial, F f, Merge merge, Where where = Where::current()) const {
    const auto op = make_operator<State>("fold", where);
    const auto outcomes =
        run_to("the program", "fold", where, [pipe = pipe_, f, op, initial](Part& part) {
          State state = initial;
          F own = f;
          pipe.run(part, part.index(), [&](Record&& record) {
            state = call_user(*op, own, std::move(state), std::move(record));
          });
          set_result(part, state);
        });
    auto states = results<State>(outcomes);
    State state = states.empty() ? std::move(initial) : std::move(states[0]);
    for (std::size_t i = 1; i < states.size(); ++i)
      state = merge(std::move(state), std::move(states[i]));
    return state;
  }
  // `n` records, all if there are fewer, each as likely as any other; the same for the same seed.
  auto sample(std::size_t n, std::uint64_t seed, Where where = Where::current()) const {
    using Stored = StoredRecord<Record>;
    const auto outcomes = run_to("the program", "sample", where, [pipe = pipe_, n, seed](Part& part) {
      Lottery<Record> lottery(n, seed, part.index());
      pipe.run(part, part.index(), [&](Record&& record) { lottery.add(record); });
      set_result(part, lottery.take());
    });
    return values(drawn(results<std::vector<std::pair<std::uint64_t, Stored>>>(outcomes), n), "sample",
                  where);
  }
  // The `n` largest by what `key_of` gives, the largest first; of equal ones the earlier.
  template <class KeyOf>
  auto top(std::size_t n, KeyOf key_of, Where where = Where::current()) const {
    using Stored = StoredRecord<Record>;
    using Order = KeyOrder<Stored, KeyOf>;
    const Order order(std::move(key_of), SortOrder::descending);
    const auto outcomes = run_to("the program", "top", where, [pipe = pipe_, n, order](Part& part) {
      Best<Stored, Order> best(n, order);
      pipe.run(part, part.index(), [&](Record&& record) { best.add(stored(record)); });
      set_result(part, best.take());
    });
    Best<Stored, Order> best(n, order);
    for (auto& part : results<std::vector<Stored>>(outcomes))
      for (auto& record : part) best.add(std::move(record));
    return values(best.take(), "top", where);
  }
  auto top(std::size_t n, Where where = Where::current()) const {
    return top(
        n, [](const auto& record) -> const auto& { return record; }, where);
  }

  // Files in a folder, one for each part, and _SUCCESS when all are there. Throws already_exists for a
  // folder that is not empty (JobOptions::overwrite). Rows: the columns are the fields.
  void write_csv(const std::string& folder, char delimiter = ',', Where where = Where::current()) const {
    write(folder, CsvRows{delimiter}, "write_csv", where);
  }
  // Lines, of records that are texts.
  void write_text(const std::string& folder, Where where = Where::current()) const {
    write(folder, TextLines(), "write_text", where);
  }
  // Structs as they lie in memory.
  void write_records(const std::string& folder, Where where = Where::current()) const {
    write(folder, RecordBytes(), "write_records", where);
  }

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

  template <class Step>
  auto then(Step step) const {
    return with(StepPipe<Pipe, Step>{pipe_, std::move(step)});
  }
  template <class Sink>
  static void run_into(Sink& sink, const Pipe& pipe, Part& part) {
    pipe.run(part, part.index(), sink);
    sink.finish();
  }
  PlanStage plan(std::string gives) const {
    PlanStage plan;
    pipe_.describe(plan);
    plan.gives = std::move(gives);
    return plan;
  }
  StageNodeRef stage_of(std::string gives, std::size_t partitions, StageNode::MakeBody make_body) const {
    return std::make_shared<StageNode>(job_, plan(std::move(gives)), pipe_.facts(), partitions,
                                       std::move(make_body));
  }
  StageNodeRef shuffled() const { return stage_of("a shuffle by key", 0, shuffle_body()); }
  auto shuffle_body() const {
    return [pipe = pipe_](JobContext&, std::size_t partitions) {
      return [=](Part& part) {
        HashSink<Key, Value> sink(part, partitions);
        run_into(sink, pipe, part);
      };
    };
  }

  // Both sides have as many partitions, by the bytes of both.
  template <JoinKind kind, class Other>
  auto joined(const Collection<Other>& other, const char* name, Where where) const {
    using W = typename Collection<Other>::Value;
    using Joined = JoinPipe<Key, Value, W, kind>;
    static_assert(std::is_same_v<Key, typename Collection<Other>::Key>,
                  "both sides of a join have keys of one type");
    const SourceFacts ours = pipe_.facts(), theirs = other.pipe_.facts();
    auto left =
        std::make_shared<StageNode>(job_, plan("a shuffle by key"), ours, theirs, shuffle_body());
    auto right = std::make_shared<StageNode>(job_, other.plan("a shuffle by key"), theirs, ours,
                                             other.shuffle_body());
    return with(Joined{left, right, make_operator<typename Joined::Record>(name, where)});
  }

  template <class Order>
  auto sorted(Order order, Where where) const {
    const auto op = make_operator<Record>("sort_by", where);
    auto stage = stage_of(
        "a shuffle by ranges of keys", 0,
        [pipe = pipe_, order, op](JobContext& job, std::size_t partitions) {
          auto sample =
              partitions > 1 ? sample_keys(job, pipe, order, *op) : std::vector<SplitterOf<Order>>();
          const auto splitters =
              std::make_shared<const Splitters<Order>>(order, std::move(sample), partitions);
          return [=](Part& part) {
            RangeSink<Record, Order> sink(part, part.index(), partitions, *splitters);
            run_into(sink, pipe, part);
          };
        });
    return with(SortedPipe<Record, Order>{stage, order, op});
  }
  template <class Order>
  using SplitterOf = Splitter<StoredRecord<typename Order::Key>>;
  template <class Order>
  static std::vector<SplitterOf<Order>> sample_keys(JobContext& job, const Pipe& pipe,
                                                    const Order& order, const PlanOperator& op) {
    const auto outcomes =
        job.sample("sample for " + op.to_string(), pipe.facts(), [pipe, order](Part& part) {
          part.read_sample_only();
          SampleSink<Order> sink(part, order);
          pipe.sample(part, part.index(), sink);
          sink.finish();
        });
    std::vector<SplitterOf<Order>> sample;
    std::uint64_t part = 0;
    for (auto& keys : results<std::vector<typename SampleSink<Order>::Sampled>>(outcomes)) {
      for (auto& [key, place] : keys) {
        const std::uint64_t prefix = order.prefix_of_key(typename Order::Key(key));
        sample.push_back({prefix, std::move(key), part, place});
      }
      ++part;
    }
    return sample;
  }

  std::vector<PartOutcome> run_to(std::string gives, const char* action, Where where,
                                  std::function<void(Part&)> body) const {
    PlanStage stage = plan(std::move(gives));
    stage.operators.push_back(*make_operator<Record>(action, where));
    const std::uint32_t id = job_->add_stage(std::move(stage));
    const SourceFacts facts = pipe_.facts();
    facts.prepare();
    return job_->run(id, facts, std::move(body));
  }
  template <class Format>
  void write(const std::string& folder, Format format, const char* action, Where where) const {
    const bool writes = !job_->options().explain && job_->engine().coordinates();
    if (writes) prepare_output(job_->storage(), folder, job_->options().overwrite);
    const SourceFacts facts = pipe_.facts();
    const auto outcomes =
        run_to("files in '" + folder + "'", action, where, [=, pipe = pipe_](Part& part) {
          FileSink<Record, Format> sink(part, folder, facts.parts(), format);
          run_into(sink, pipe, part);
        });
    if (writes) finish_output(job_->storage(), folder, outcomes, job_->counters());
  }
  template <class T>
  auto values(std::vector<T> records, const char* kind, Where where) const {
    return with(ValuesPipe<T>{std::make_shared<const std::vector<T>>(std::move(records)), 1,
                              make_operator<T>(kind, where)});
  }
  static auto collected(const std::vector<PartOutcome>& outcomes) {
    using Stored = StoredRecord<Record>;
    std::vector<Stored> records;
    std::size_t bytes = 0;
    for (const auto& outcome : outcomes) {
      if ((bytes += outcome.result.size()) > CollectSink<Record>::most_bytes)
        CollectSink<Record>::throw_too_much();
      for (RecordReader reader(outcome.result); !reader.empty();)
        records.push_back(decode<Stored>(reader));
    }
    return records;
  }
  template <class Result>
  static void set_result(Part& part, const Result& result) {
    std::vector<std::byte> bytes(encoded_size(result));
    encode(result, bytes.data());
    part.set_result(std::move(bytes));
  }
  template <class Result>
  static std::vector<Result> results(const std::vector<PartOutcome>& outcomes) {
    std::vector<Result> all;
    for (const auto& outcome : outcomes) {
      RecordReader reader(outcome.result);
      all.push_back(decode<Result>(reader));
    }
    return all;
  }

  JobRef job_;
  Pipe pipe_;
};

}  // namespace actorflow
