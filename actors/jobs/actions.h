// The actions of Collection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/jobs/collection.h"
#include "actors/jobs/pipes/step_groups.h"
#include "actors/jobs/pipes/values_pipe.h"
#include "actors/jobs/sinks/folds.h"
#include "actors/jobs/sinks/results.h"

namespace actorflow {

template <class Pipe>
std::vector<PartOutcome> Collection<Pipe>::run_to(std::string gives, const char* action, Where where,
                                                  std::function<void(Part&)> body,
                                                  std::optional<ResultLimit> limit) const {
  PlanStage stage = plan(std::move(gives));
  stage.operators.push_back(*make_operator<Record>(action, where));
  const std::uint32_t id = job_->add_stage(std::move(stage));
  const SourceFacts facts = pipe_.facts();
  facts.prepare();
  return job_->run(id, facts, std::move(body), std::move(limit));
}

// To the program.

template <class Pipe>
auto Collection<Pipe>::collect(Where where) const {
  using Stored = StoredRecord<Record>;
  const auto outcomes = run_to(
      "the program", "collect", where,
      [pipe = pipe_](Part& part) {
        CollectSink<Record> sink(part);
        run_into(sink, pipe, part);
      },
      CollectSink<Record>::limit());
  std::vector<Stored> records;
  for (const auto& outcome : outcomes)
    for (RecordReader reader(outcome.result); !reader.empty();)
      records.push_back(decode<Stored>(reader));
  return records;
}

template <class Pipe>
std::uint64_t Collection<Pipe>::count(Where where) const {
  const auto outcomes = run_to("the program", "count", where, [pipe = pipe_](Part& part) {
    std::uint64_t records = 0;
    pipe.run(part, part.index(), [&records](Record&&) { ++records; });
    part.count_records(records);
  });
  std::uint64_t records = 0;
  for (const auto& outcome : outcomes) records += outcome.records;
  return records;
}

template <class Pipe>
template <class F>
auto Collection<Pipe>::reduce(F f, Where where) const {
  using Stored = StoredRecord<Record>;
  static_assert(Folds<F, Stored, Record>,
                "reduce: expected a function of two records that gives one, or that takes the first by "
                "reference, changes it and gives nothing");
  const auto op = make_operator<Record>("reduce", where);
  const auto body = [pipe = pipe_, f, op](Part& part) {
    std::optional<Stored> folded;
    F own = f;
    StateGuard guard(part);
    pipe.run(part, part.index(), [&](Record&& record) {
      if (folded)
        fold_value(*op, own, *folded, std::move(record));
      else
        folded = stored(record);
      guard.look_at(*folded);
    });
    set_part_result(part, folded);
  };
  const auto outcomes = run_to("the program", "reduce", where, body, job_->result_limit("reduce"));
  const CountsHere counts(*job_);
  std::optional<Stored> folded;
  for (const auto& part : results_of<std::optional<Stored>>(outcomes)) {
    if (!part) continue;
    if (folded)
      fold_value(f, *folded, Record(*part));
    else
      folded = *part;
  }
  return folded;
}

template <class Pipe>
template <class State, class F, class Merge>
State Collection<Pipe>::fold(State initial, F f, Merge merge, Where where) const {
  static_assert(Folds<F, State, Record>,
                "fold: expected a function of a state and a record that gives the new state, or that "
                "takes State&, changes it and gives nothing");
  static_assert(Folds<Merge, State, State>,
                "fold: expected a function of two states that gives one, or that takes the first by "
                "reference, changes it and gives nothing");
  const auto op = make_operator<State>("fold", where);
  const auto body = [pipe = pipe_, f, op, initial](Part& part) {
    State state = initial;
    F own = f;
    StateGuard guard(part);
    pipe.run(part, part.index(), [&](Record&& record) {
      fold_value(*op, own, state, std::move(record));
      guard.look_at(state);
    });
    set_part_result(part, state);
  };
  const auto outcomes = run_to("the program", "fold", where, body, job_->result_limit("fold"));
  const CountsHere counts(*job_);
  auto states = results_of<State>(outcomes);
  State state = states.empty() ? std::move(initial) : std::move(states[0]);
  for (std::size_t i = 1; i < states.size(); ++i) fold_value(merge, state, std::move(states[i]));
  return state;
}

// Records of the program's own again.

template <class Pipe>
template <class T>
auto Collection<Pipe>::of_values(std::vector<T> records, const char* kind, Where where) const {
  return with(ValuesPipe<T>{std::make_shared<const std::vector<T>>(std::move(records)), 1,
                            make_operator<T>(kind, where)});
}

template <class Pipe>
auto Collection<Pipe>::sample(std::size_t n, std::uint64_t seed, Where where) const {
  using Stored = StoredRecord<Record>;
  const auto body = [pipe = pipe_, n, seed](Part& part) {
    Lottery<Record> lottery(n, seed, part.index());
    pipe.run(part, part.index(), [&](Record&& record) {
      if (lottery.add(record)) part.expect_room_for(lottery.bytes(), "a sample");
    });
    set_part_result(part, lottery.take());
  };
  const auto outcomes = run_to("the program", "sample", where, body, job_->result_limit("sample"));
  return of_values(drawn(results_of<std::vector<std::pair<std::uint64_t, Stored>>>(outcomes), n), "sample",
                where);
}

template <class Pipe>
template <class KeyOf>
auto Collection<Pipe>::top(std::size_t n, KeyOf key_of, Where where) const {
  using Stored = StoredRecord<Record>;
  static_assert(std::invocable<const KeyOf&, const Stored&>,
                "top: expected a function, or a pointer to a member, that gives a record's key");
  using Order = KeyOrder<Stored, KeyOf>;
  const Order order(std::move(key_of), SortOrder::descending, make_operator<Record>("top", where));
  const auto body = [pipe = pipe_, n, order](Part& part) {
    Best<Stored, Order> best(n, order);
    pipe.run(part, part.index(), [&](Record&& record) {
      if (best.add(stored(record))) part.expect_room_for(best.bytes(), "a list of the largest records");
    });
    set_part_result(part, best.take());
  };
  const auto outcomes = run_to("the program", "top", where, body, job_->result_limit("top"));
  const CountsHere counts(*job_);
  Best<Stored, Order> best(n, order);
  for (auto& part : results_of<std::vector<Stored>>(outcomes))
    for (auto& record : part) best.add(std::move(record));
  return of_values(best.take(), "top", where);
}

template <class Pipe>
auto Collection<Pipe>::top(std::size_t n, Where where) const {
  return top(
      n, [](const auto& record) -> const auto& { return record; }, where);
}

// To files.

// Runs a stage that writes each part by a Sink(part, folder, parts, arguments...).
template <class Pipe>
template <class Sink, class... Arguments>
void Collection<Pipe>::write_by(const std::string& folder, const char* action, Where where,
                                Arguments... arguments) const {
  const bool is_ours = !job_->options().explain && job_->engine().coordinates();
  if (is_ours) prepare_output(*job_, folder);
  const SourceFacts facts = pipe_.facts();
  const auto outcomes =
      run_to("files in '" + folder + "'", action, where, [=, pipe = pipe_](Part& part) {
        Sink sink(part, folder, facts.parts(), arguments...);
        run_into(sink, pipe, part);
      });
  if (is_ours) finish_output(*job_, folder, outcomes);
}

template <class Pipe>
template <class Format>
void Collection<Pipe>::write(const std::string& folder, Format format, FileOutput options,
                             const char* action, Where where) const {
  const Compression compression = options.compression.value_or(job_->options().compression);
  write_by<FileSink<Record, Format>>(folder, action, where, format, compression);
}

template <class Pipe>
void Collection<Pipe>::write_csv(const std::string& folder, CsvOutput options, Where where) const {
  write(folder, CsvRows{options.delimiter}, {options.compression}, "write_csv", where);
}

template <class Pipe>
void Collection<Pipe>::write_text(const std::string& folder, FileOutput options, Where where) const {
  write(folder, TextLines(), options, "write_text", where);
}

template <class Pipe>
void Collection<Pipe>::write_records(const std::string& folder, FileOutput options, Where where) const {
  write(folder, RecordBytes(), options, "write_records", where);
}

template <class Pipe>
void Collection<Pipe>::write_parquet(const std::string& folder, ParquetOutput options,
                                     Where where) const {
  auto names = parquet_names(std::move(options.columns), parquet_fields<Record>().size());
  write_by<ParquetSink<Record>>(folder, "write_parquet", where, std::move(names), options.codec);
}

// The same with files by key.
template <class Pipe>
template <class Sink, class... Arguments>
void Collection<Pipe>::write_by_key(const std::string& folder, const std::string& column,
                                    const char* action, Where where, Arguments... arguments) const {
  static_assert(has_keys, "write_..._by_key: expected a collection of pairs; key_by() makes one");
  static_assert(NamesFolder<Key>,
                "write_..._by_key: expected keys that are whole numbers or texts, which name folders");
  expect_column_name(column, action);
  using Files = FilesByKey<Key, Value, Sink, Arguments...>;
  using Sorted = SortedFilesByKey<Key, Value, Files>;
  write_by<std::conditional_t<Grouped<Pipe>, Files, Sorted>>(folder, action, where, column,
                                                             std::move(arguments)...);
}

template <class Pipe>
void Collection<Pipe>::write_csv_by_key(const std::string& folder, const std::string& column,
                                        CsvOutput options, Where where) const {
  write_by_key<FileSink<Value, CsvRows>>(folder, column, "write_csv_by_key", where,
                                         CsvRows{options.delimiter},
                                         options.compression.value_or(job_->options().compression));
}

template <class Pipe>
void Collection<Pipe>::write_text_by_key(const std::string& folder, const std::string& column,
                                         FileOutput options, Where where) const {
  write_by_key<FileSink<Value, TextLines>>(folder, column, "write_text_by_key", where, TextLines(),
                                           options.compression.value_or(job_->options().compression));
}

template <class Pipe>
void Collection<Pipe>::write_records_by_key(const std::string& folder, const std::string& column,
                                            FileOutput options, Where where) const {
  write_by_key<FileSink<Value, RecordBytes>>(folder, column, "write_records_by_key", where,
                                             RecordBytes(),
                                             options.compression.value_or(job_->options().compression));
}

template <class Pipe>
void Collection<Pipe>::write_parquet_by_key(const std::string& folder, const std::string& column,
                                            ParquetOutput options, Where where) const {
  auto names = parquet_names(std::move(options.columns), parquet_fields<Value>().size());
  write_by_key<ParquetSink<Value>>(folder, column, "write_parquet_by_key", where, std::move(names),
                                   options.codec);
}

}  // namespace actorflow
