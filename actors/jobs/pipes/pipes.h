// The narrow operators: each takes the records of another and passes its own on, all in one loop.
//
// A pipe has
//   using Record               what it gives
//   run(part, index, next)     calls next(record) for each record of the source's part `index`, in order
//   sample(part, index, next)  the same for some of them, from all over the part, which follow from its
//                              records alone; returns of how many each is one; only if is_cheap
//   is_cheap                   to run it twice costs little more than to keep its records
//   facts(), describe(plan)    its source; its operators, added to a plan
// and is copied into the function of its stage. Some have groups(), too (step_groups.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/jobs/context/job_context.h"
#include "actors/jobs/pipes/step_groups.h"

namespace actorflow {

// Steps: what becomes of one record. A part has a copy of its own.

template <class T, class F>
struct MapStep {
  using Record = std::decay_t<std::invoke_result_t<F&, T&&>>;
  F function;
  OperatorRef op;

  template <class Next>
  void operator()(T&& record, Next& next) {
    next(call_user(*op, function, std::move(record)));
  }
};

// Of pairs: the function gives a value in the place of another.
template <class K, class V, class F>
struct MapValuesStep {
  using Record = std::pair<K, std::decay_t<std::invoke_result_t<F&, V&&>>>;
  static constexpr bool keeps_keys = true;
  F function;
  OperatorRef op;

  template <class Next>
  void operator()(std::pair<K, V>&& pair, Next& next) {
    next(Record(std::move(pair.first), call_user(*op, function, std::move(pair.second))));
  }
};

template <class T, class F>
struct FilterStep {
  using Record = T;
  static constexpr bool keeps_keys = true;
  F function;
  OperatorRef op;

  template <class Next>
  void operator()(T&& record, Next& next) {
    if (call_user(*op, function, std::as_const(record))) next(std::move(record));
  }
};

// The function gives a range of records.
template <class T, class F>
struct FlatMapStep {
  using Range = std::invoke_result_t<F&, T&&>;
  using Record = std::decay_t<std::ranges::range_reference_t<Range>>;
  // The elements die with the range, so they may be moved.
  static constexpr bool owns = !std::is_reference_v<Range> && !std::ranges::view<Range>;
  F function;
  OperatorRef op;

  // The range may compute its elements while it is traversed, so an exception outside of next() is the
  // user's.
  template <class Next>
  void operator()(T&& record, Next& next) {
    bool ours = false;
    try {
      for (auto&& element : function(std::move(record))) {
        ours = true;
        if constexpr (owns)
          next(Record(std::move(element)));
        else
          next(Record(element));
        ours = false;
      }
    } catch (...) {
      if (ours) throw;
      throw_operator_failure(*op);
    }
  }
};

// A step with keeps_keys leaves the keys of pairs as they are, and gives one pair or none.
template <class Step>
concept KeepsKeys = Step::keeps_keys;

template <class Before, class Step>
struct StepPipe {
  using Record = typename Step::Record;
  static constexpr bool is_cheap = Before::is_cheap;

  Before before;
  Step step;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    before.run(part, index, [own = step, &next](typename Before::Record&& record) mutable {
      own(std::move(record), next);
    });
  }
  template <class Next>
  double sample(Part& part, std::size_t index, Next&& next) const {
    return before.sample(part, index, [own = step, &next](typename Before::Record&& record) mutable {
      own(std::move(record), next);
    });
  }
  auto groups(Part& part, std::size_t index) const requires Grouped<Before> && KeepsKeys<Step> {
    using Pair = typename Before::Record;
    return StepGroups<decltype(before.groups(part, index)), typename Pair::first_type,
                      typename Pair::second_type, Step>(before, part, index, step);
  }
  SourceFacts facts() const { return before.facts(); }
  void describe(PlanStage& plan) const {
    before.describe(plan);
    plan.operators.push_back(*step.op);
  }
};

// The parts of the second pipe follow those of the first.
template <class First, class Second>
struct UnionPipe {
  using Record = typename First::Record;
  static_assert(std::is_same_v<Record, typename Second::Record>,
                "union_with joins collections of the same type");
  static constexpr bool is_cheap = First::is_cheap && Second::is_cheap;

  First first;
  Second second;
  OperatorRef op;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    const std::size_t others = first.facts().parts();
    if (index < others)
      first.run(part, index, next);
    else
      second.run(part, index - others, next);
  }
  template <class Next>
  double sample(Part& part, std::size_t index, Next&& next) const {
    const std::size_t others = first.facts().parts();
    return index < others ? first.sample(part, index, next) : second.sample(part, index - others, next);
  }
  SourceFacts facts() const {
    const SourceFacts a = first.facts(), b = second.facts();
    return {[a, b] {
              a.prepare();
              b.prepare();
            },
            [a, b] { return a.parts() + b.parts(); },
            [a, b] { return a.bytes() + b.bytes(); },
            [a, b](std::size_t part) {
              const std::size_t others = a.parts();
              const SourceFacts& facts = part < others ? a : b;
              return facts.inputs ? facts.inputs(part < others ? part : part - others)
                                  : std::vector<SliceSet>();
            },
            [a, b] {
              return (a.contents ? a.contents() : std::string()) +
                     (b.contents ? ", " + b.contents() : std::string());
            },
            [a, b](Storage& storage) {
              return (a.times ? a.times(storage) : std::string()) +
                     (b.times ? ", " + b.times(storage) : std::string());
            },
            [a, b] { return (a.partitions ? a.partitions() : 0) + (b.partitions ? b.partitions() : 0); },
            [a, b](std::size_t part) {
              const std::size_t others = a.parts();
              const SourceFacts& facts = part < others ? a : b;
              return facts.part_bytes ? facts.part_bytes(part < others ? part : part - others)
                                      : std::uint64_t{0};
            }};
  }
  void describe(PlanStage& plan) const {
    first.describe(plan);
    second.describe(plan);
    plan.operators.push_back(*op);
  }
};

}  // namespace actorflow
