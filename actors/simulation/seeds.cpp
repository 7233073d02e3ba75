#include "actors/simulation/seeds.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

thread_local SeedScope* innermost = nullptr;

std::optional<std::uint64_t> number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  if (!text) return std::nullopt;
  char* end = nullptr;
  const auto value = std::strtoull(text, &end, 10);
  if (end == text || *end != '\0')
    throw invalid_argument(fmt::format("{}: expected a number, got '{}'", name, text));
  return value;
}

SimOptions options_of(std::uint64_t seed, std::optional<FaultPlan> only, bool record) {
  SimOptions options;
  options.seed = seed;
  options.only = std::move(only);
  options.record = record;
  return options;
}

struct Outcome {
  std::optional<std::string> error;  // with which the body failed, if it did
  FaultPlan asked;                   // the faults that it asked for
  bool has_trace = false;            // which was written
};

Outcome run(SimOptions options, const std::function<void()>& body, const std::string& trace_path) {
  SeedScope scope(std::move(options), trace_path);
  Outcome outcome;
  try {
    body();
  } catch (const std::exception& error) {
    outcome.error = error.what();
  } catch (...) {
    outcome.error = "it threw what is no std::exception, as a failed BOOST_REQUIRE does";
  }
  outcome.asked = scope.asked();
  outcome.has_trace = scope.has_trace();
  return outcome;
}

SeedFailure explain(std::uint64_t seed, const Outcome& first, const std::function<void()>& body,
                    const std::string& trace_path) {
  SeedFailure failure{seed, *first.error, {}, {}, {}};
  failure.faults = shrink(first.asked, [&](const FaultPlan& plan) {
    return run(options_of(seed, plan, false), body, {}).error.has_value();
  });
  const bool record = !trace_path.empty();
  const Outcome last = run(options_of(seed, failure.faults, record), body, trace_path);
  if (last.error) failure.error = *last.error;
  if (record)
    failure.trace = last.has_trace
                        ? fmt::format("what happened is in {}, which ui.perfetto.dev opens", trace_path)
                        : "what happened could not be written to " + trace_path;
  failure.environment = fmt::format("ACTORFLOW_SEED={}", seed);
  if (failure.faults != first.asked)
    failure.environment += fmt::format(" ACTORFLOW_FAULTS='{}'", to_string(failure.faults));
  return failure;
}

}  // namespace

SeedScope::SeedScope(SimOptions options, std::string trace_path)
    : options_(std::move(options)),
      trace_path_(std::move(trace_path)),
      outer_(std::exchange(innermost, this)) {}

SeedScope::~SeedScope() { innermost = outer_; }

SeedScope* SeedScope::current() { return innermost; }

SeedRange seeds(std::uint64_t first, std::uint64_t last) {
  if (const auto one = number_in_environment("ACTORFLOW_SEED")) return {*one, *one};
  if (const auto count = number_in_environment("ACTORFLOW_SEEDS")) return {first, first + *count - 1};
  return {first, last};
}

std::optional<FaultPlan> faults_of_environment() {
  const char* text = std::getenv("ACTORFLOW_FAULTS");
  return text ? std::optional(parse_fault_plan(text)) : std::nullopt;
}

SimOptions of_this_seed(SimOptions options) {
  if (const auto* scope = SeedScope::current()) {
    options.seed = scope->options().seed;
    options.only = scope->options().only;
    options.record = scope->options().record;
  }
  return options;
}

std::string SeedFailure::to_string() const {
  return fmt::format("seed {} fails with {}: {}\nto see it again: {} and the same program", seed,
                     faults.empty() ? "no fault at all"
                                    : fmt::format("these faults: {}", actorflow::to_string(faults)),
                     error, environment);
}

std::optional<SeedFailure> run_seeds(SeedRange range, const std::function<void()>& body,
                                     const std::string& trace_path) {
  if (range.first > range.last)
    throw invalid_argument(
        fmt::format("no seed to run: the first, {}, is after the last, {}", range.first, range.last));
  const std::optional<FaultPlan> only = faults_of_environment();
  for (std::uint64_t seed = range.first;; ++seed) {
    const Outcome outcome = run(options_of(seed, only, false), body, {});
    if (outcome.error) return explain(seed, outcome, body, trace_path);
    if (seed == range.last) return std::nullopt;
  }
}

}  // namespace actorflow
