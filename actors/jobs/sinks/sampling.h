// Samples of a collection, taken before a stage that divides its records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "actors/jobs/context/job_context.h"
#include "actors/jobs/engine/parts/part.h"
#include "actors/jobs/sinks/results.h"
#include "schema/records/record_codec.h"

namespace actorflow {

// The sample of a part.
template <class Sampled>
struct PartSample {
  double weight = 1;  // how many records each of the sample stands for
  std::vector<Sampled> taken;
};

// Samples the records that it is given at even distances, at most 2,000 of them: when it has more, it
// drops every other one and doubles the distance. Make: makes from a record what the sample keeps.
template <class Make>
class SampleSink {
 public:
  explicit SampleSink(Make make) : make_(std::move(make)) {}

  template <class T>
  void operator()(const T& record) {
    if (seen_++ % stride_ != 0) return;
    taken_.push_back(make_(record));
    if (taken_.size() < 2000) return;
    for (std::size_t i = 0; 2 * i < taken_.size(); ++i) taken_[i] = std::move(taken_[2 * i]);
    taken_.resize(taken_.size() / 2);
    stride_ *= 2;
  }
  // `weight`: how many records of the part each given record stands for.
  PartSample<typename Make::Sampled> take(double weight) {
    return {weight * static_cast<double>(stride_), std::move(taken_)};
  }

 private:
  const Make make_;
  std::uint64_t seen_ = 0, stride_ = 1;
  std::vector<typename Make::Sampled> taken_;
};

// The samples of all parts of a pipe whose source is prepared. `make(part)`: a Make for the part.
template <class Pipe, class MakeOfPart>
auto sample_parts(JobContext& job, const Pipe& pipe, const PlanOperator& op, MakeOfPart make) {
  using Make = std::invoke_result_t<const MakeOfPart&, Part&>;
  const auto outcomes = job.sample("sample for " + op.to_string(), pipe.facts(),
                                   [pipe, make = std::move(make)](Part& part) {
                                     part.read_sample_only();
                                     SampleSink<Make> sink(make(part));
                                     const double weight = pipe.sample(part, part.index(), sink);
                                     set_part_result(part, sink.take(weight));
                                   });
  return results_of<PartSample<typename Make::Sampled>>(outcomes);
}

}  // namespace actorflow
