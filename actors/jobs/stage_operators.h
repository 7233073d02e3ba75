// The stages of Collection's operators, and the operators that keep the records or divide them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "actors/jobs/collection.h"
#include "actors/jobs/pipes/stage_pipes.h"

namespace actorflow {

template <class Pipe>
PlanStage Collection<Pipe>::plan(std::string gives) const {
  PlanStage plan;
  pipe_.describe(plan);
  plan.gives = std::move(gives);
  return plan;
}

template <class Pipe>
StageNodeRef Collection<Pipe>::stage_of(std::string gives, std::size_t partitions,
                                        StageNode::MakeBody make_body) const {
  return std::make_shared<StageNode>(job_, plan(std::move(gives)), pipe_.facts(), partitions,
                                     std::move(make_body));
}

// The body of a stage that passes all records to a Sink(part, partitions, arguments...).
template <class Pipe>
template <class Sink, class... Arguments>
StageNode::MakeBody Collection<Pipe>::body_of(Arguments... arguments) const {
  return [pipe = pipe_, ... arguments = std::move(arguments)](JobContext&, std::size_t partitions) {
    return [=](Part& part) {
      Sink sink(part, partitions, arguments...);
      run_into(sink, pipe, part);
    };
  };
}

template <class Pipe>
auto Collection<Pipe>::cache(Where where) const {
  auto stage = stage_of("records that are kept", 1, body_of<DealSink<Record>>());
  return with(KeptPipe<Record>{{stage, make_operator<Record>("cache", where)}});
}

template <class Pipe>
auto Collection<Pipe>::zip_with_index(Where where) const {
  auto kept = cache(where);
  return kept.with(NumberedPipe<Record>{
      {kept.pipe().stage, make_operator<std::pair<std::int64_t, Record>>("zip_with_index", where)}});
}

template <class Pipe>
auto Collection<Pipe>::partition_by(std::size_t parts, Where where) const {
  auto stage =
      stage_of("a shuffle in turn", std::max<std::size_t>(parts, 1), body_of<DealSink<Record>>());
  return with(PartitionPipe<Record>{{stage, make_operator<Record>("partition_by", where)}});
}

template <class Pipe>
template <class KeyOf>
requires(!std::integral<KeyOf>) auto Collection<Pipe>::partition_by(KeyOf key_of, std::size_t parts,
                                                                    Where where) const {
  const auto op = make_operator<Record>("partition_by", where);
  auto stage =
      stage_of("a shuffle by key", parts, body_of<KeySink<Record, KeyOf>>(std::move(key_of), op));
  return with(PartitionPipe<Record>{{stage, op}});
}

}  // namespace actorflow
