#include "actors/jobs/job_context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace actorflow {
namespace {

constexpr std::uint64_t most_partitions = 4096;

JobEngineOptions engine_options(const JobOptions& options) {
  const char* temporary = std::getenv("TMPDIR");
  JobEngineOptions engine;
  engine.memory_bytes = options.memory_bytes;
  engine.spill_folder = !options.spill_folder.empty() ? options.spill_folder
                        : temporary                   ? temporary
                                                      : "/tmp";
  engine.spill_bytes = options.spill_bytes;
  engine.records_on_disk = options.records_on_disk;
  engine.slots = options.threads;
  engine.skip_bad_records = options.skip_bad_records;
  engine.reporter = options.reporter;
  return engine;
}

std::string name_of(const PlanStage& plan) {
  std::vector<std::string> kinds;
  for (const auto& op : plan.operators) kinds.push_back(op.kind);
  return fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace

JobContext::JobContext(JobOptions options, std::shared_ptr<Runtime> runtime)
    : options_(std::move(options)), engine_(std::move(runtime), engine_options(options_)) {}

const std::string* JobContext::parameter(const std::string& name) {
  asked_.insert(name);
  const auto found = options_.parameters.find(name);
  return found == options_.parameters.end() ? nullptr : &found->second;
}

void JobContext::expect_known_parameters() const {
  for (const auto& [name, value] : options_.parameters)
    if (!asked_.contains(name))
      throw invalid_argument(
          fmt::format("--{} was given, but the job never asked for it; it has asked for --{}", name,
                      fmt::join(asked_, ", --")));
}

std::size_t JobContext::counter(const std::string& name) {
  const auto found = std::ranges::find(counter_names_, name);
  if (found != counter_names_.end()) return static_cast<std::size_t>(found - counter_names_.begin());
  counter_names_.push_back(name);
  counts_.push_back(0);
  return counts_.size() - 1;
}

std::map<std::string, std::int64_t> JobContext::counters() const {
  std::map<std::string, std::int64_t> counters;
  for (std::size_t i = 0; i < counts_.size(); ++i) counters[counter_names_[i]] = counts_[i];
  if (engine_.skipped_records() > 0)
    counters["skipped records"] = static_cast<std::int64_t>(engine_.skipped_records());
  return counters;
}

std::uint32_t JobContext::add_stage(PlanStage stage) {
  stage.id = static_cast<std::uint32_t>(stages_.size() + 1);
  stages_.push_back(std::move(stage));
  return stages_.back().id;
}

std::size_t JobContext::partitions_for(std::uint64_t bytes) const {
  if (options_.partitions > 0) return options_.partitions;
  return std::clamp<std::uint64_t>((bytes + options_.partition_bytes - 1) / options_.partition_bytes, 1,
                                   most_partitions);
}

std::vector<PartOutcome> JobContext::run(std::uint32_t stage, const SourceFacts& source,
                                         std::function<void(Part&)> body) {
  if (options_.explain) throw PlanIsComplete();
  auto outcomes = engine_.run({.id = stage,
                               .name = name_of(stages_[stage - 1]),
                               .parts = source.parts(),
                               .input_bytes = source.bytes(),
                               .body = std::move(body)});
  for (const auto& outcome : outcomes)
    for (std::size_t i = 0; i < outcome.counts.size(); ++i) counts_[i] += outcome.counts[i];
  return outcomes;
}

StageNode::StageNode(JobRef job, PlanStage plan, SourceFacts source, std::size_t partitions,
                     MakeBody make_body)
    : job_(std::move(job)),
      source_(std::move(source)),
      wanted_partitions_(partitions),
      make_body_(std::move(make_body)),
      id_(job_->add_stage(std::move(plan))) {}

StageNode::StageNode(JobRef job, PlanStage plan, SourceFacts source, SourceFacts beside,
                     MakeBody make_body)
    : job_(std::move(job)),
      source_(std::move(source)),
      beside_(std::move(beside)),
      wanted_partitions_(0),
      make_body_(std::move(make_body)),
      id_(job_->add_stage(std::move(plan))) {}

void StageNode::ensure() {
  if (dataset_) return;
  source_.prepare();
  if (beside_) beside_->prepare();
  const std::uint64_t bytes = source_.bytes() + (beside_ ? beside_->bytes() : 0);
  const auto dataset = std::make_shared<KeptRecords>();
  dataset->partitions = wanted_partitions_ > 0 ? wanted_partitions_ : job_->partitions_for(bytes);
  auto outcomes = job_->run(id_, source_, make_body_(dataset->partitions));
  for (auto& outcome : outcomes) dataset->parts.push_back(std::move(outcome.chunks));
  dataset_ = dataset;
}

}  // namespace actorflow
