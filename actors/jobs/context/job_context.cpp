#include "actors/jobs/context/job_context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "schema/json_tree.h"

namespace actorflow {
namespace {

constexpr std::uint64_t most_partitions = 4096;
constexpr std::uint64_t small_partition_bytes = std::uint64_t{8} << 20;

thread_local JobContext* counting = nullptr;

// As _SUCCESS must have it, which is written when all else is done.
void expect_utf8(const std::string& counter) {
  try {
    static_cast<void>(JsonTree(counter).to_string());
  } catch (const Error&) {
    throw invalid_argument(
        fmt::format("Job::counter: expected a name in UTF-8, got {:?}: use another one", counter));
  }
}

std::string name_of(const PlanStage& plan) {
  std::vector<std::string> kinds;
  for (const auto& op : plan.operators) kinds.push_back(op.kind);
  return fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace

JobContext::JobContext(JobOptions options, std::unique_ptr<JobEngine> engine)
    : options_(std::move(options)), engine_(std::move(engine)), parameters_(options_.parameters) {}

void JobContext::expect_known_parameters() {
  if (lists_parameters_) throw PlanIsComplete();
  parameters_.close();
}

std::size_t JobContext::counter(const std::string& name) {
  const auto found = std::ranges::find(counter_names_, name);
  if (found != counter_names_.end()) return static_cast<std::size_t>(found - counter_names_.begin());
  expect_utf8(name);
  counter_names_.push_back(name);
  counts_.push_back(0);
  return counts_.size() - 1;
}

std::map<std::string, std::int64_t> JobContext::counters() const {
  std::map<std::string, std::int64_t> counters;
  for (std::size_t i = 0; i < counts_.size(); ++i) counters[counter_names_[i]] = counts_[i];
  if (engine_->skipped_records() > 0)
    counters["skipped records"] = static_cast<std::int64_t>(engine_->skipped_records());
  return counters;
}

CountsHere::CountsHere(JobContext& job) { counting = &job; }
CountsHere::~CountsHere() { counting = nullptr; }

void JobContext::count_here(std::size_t counter, std::int64_t by) {
  if (!counting)
    throw Error(Code::failed_precondition,
                "Counter::add: expected a call by a function of the job, got one of the program itself: "
                "count there by a variable");
  counting->counts_.at(counter) += by;
}

ResultLimit JobContext::result_limit(const char* action) const {
  const std::uint64_t bytes = options_.memory_bytes / 4;
  return {bytes,
          {Code::resource_exhausted,
           fmt::format("{}() brings what each part has to the program, {} bytes at most, which is a "
                       "quarter of --memory, and there is more: give more --memory, larger "
                       "--split_bytes, or take less",
                       action, bytes)}};
}

std::uint32_t JobContext::add_stage(PlanStage stage) {
  stage.id = static_cast<std::uint32_t>(stages_.size() + 1);
  stages_.push_back(std::move(stage));
  return stages_.back().id;
}

std::size_t JobContext::partitions_for(std::uint64_t bytes, std::size_t earlier_partitions) const {
  if (options_.partitions > 0) return options_.partitions;
  const std::uint64_t least = std::min(options_.partition_bytes, small_partition_bytes);
  const std::uint64_t by_bytes = (bytes + options_.partition_bytes - 1) / options_.partition_bytes,
                      as_before = std::min<std::uint64_t>(earlier_partitions, bytes / least);
  return std::clamp<std::uint64_t>(std::max(by_bytes, as_before), 1, most_partitions);
}

// Tasks that run the same program come to the same stages, unless the job itself depends on something
// that they see differently.
StageSpec JobContext::spec_of(std::uint32_t stage, const SourceFacts& source, Body body) const {
  StageSpec spec;
  spec.parts = source.parts();
  spec.input_bytes = source.bytes();
  spec.inputs = source.inputs;
  spec.part_bytes = source.part_bytes;
  spec.body = std::move(body);
  if (stage > 0) {
    spec.name = name_of(stages_[stage - 1]);
    for (const auto& op : stages_[stage - 1].operators) {
      spec.operators.push_back(op.to_string());
      spec.fingerprint.push_back(fmt::format("{} of {}", op.to_string(), op.records));
    }
  }
  if (source.contents && has_peers()) spec.fingerprint.push_back(source.contents());
  if (source.times && !options_.work_folder.empty() && engine_->coordinates())
    spec.history.push_back(source.times(engine_->storage()));
  spec.fingerprint.push_back(fmt::format("{} parts", spec.parts));
  return spec;
}

// Whether other tasks or a later run may see other input than this task.
bool JobContext::has_peers() const { return engine_->has_others() || !options_.work_folder.empty(); }

StageResult JobContext::run_uncounted(std::uint32_t stage, StageSpec spec) {
  expect_known_parameters();
  if (options_.explain) throw PlanIsComplete();
  spec.fingerprint.push_back(fmt::format("{} partitions", spec.partitions));
  return engine_->run(std::move(spec), stage);
}

StageResult JobContext::run(std::uint32_t stage, StageSpec spec) {
  auto result = run_uncounted(stage, std::move(spec));
  for (const auto& outcome : result.outcomes)
    for (std::size_t i = 0; i < outcome.counts.size(); ++i) counts_.at(i) += outcome.counts[i];
  return result;
}

std::vector<PartOutcome> JobContext::run(std::uint32_t stage, const SourceFacts& source, Body body,
                                         std::optional<ResultLimit> limit) {
  StageSpec spec = spec_of(stage, source, std::move(body));
  spec.limit = std::move(limit);
  return run(stage, std::move(spec)).outcomes;
}

StageResult JobContext::keep(std::uint32_t stage, const SourceFacts& source, std::size_t partitions,
                             Body body) {
  StageSpec spec = spec_of(stage, source, std::move(body));
  spec.keeps = true;
  spec.partitions = partitions;
  return run(stage, std::move(spec));
}

StageResult JobContext::keep_at(std::vector<int> owners, std::uint32_t stage, const SourceFacts& source,
                                Body body) {
  StageSpec spec = spec_of(stage, source, std::move(body));
  spec.keeps = true;
  spec.owners = std::move(owners);
  return run(stage, std::move(spec));
}

std::vector<PartOutcome> JobContext::sample(const std::string& name, const SourceFacts& source,
                                            Body body) {
  StageSpec spec = spec_of(0, source, std::move(body));
  spec.name = name;
  spec.fingerprint.insert(spec.fingerprint.begin(), name);
  return run_uncounted(0, std::move(spec)).outcomes;
}

}  // namespace actorflow
