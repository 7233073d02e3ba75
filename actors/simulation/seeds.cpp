#include "actors/simulation/seeds.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <system_error>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

thread_local SeedScope* innermost = nullptr;

std::optional<std::uint64_t> number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  if (!text) return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = text + std::strlen(text);
  if (const auto read = std::from_chars(text, end, value); read.ec != std::errc() || read.ptr != end)
    throw invalid_argument(
        fmt::format("{}: expected a number from 0 to {}, got '{}'", name, ~std::uint64_t{0}, text));
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
  std::vector<std::uint64_t> hashes{};  // of the runs of its clusters
  bool has_trace = false;               // which was written
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
  if (!outcome.error && scope.is_not_run()) outcome.error = SeedScope::why_not_run;
  outcome.asked = scope.asked();
  outcome.hashes = scope.hashes();
  outcome.has_trace = scope.has_trace();
  return outcome;
}

// One run of a seed, or two that must be the same.
Outcome run_once_or_twice(std::uint64_t seed, const std::optional<FaultPlan>& only, bool twice,
                          const std::function<void()>& body) {
  Outcome outcome = run(options_of(seed, only, false), body, {});
  if (!twice || outcome.error) return outcome;
  const Outcome again = run(options_of(seed, only, false), body, {});
  if (again.error)
    outcome.error = "the same seed succeeded and then failed: " + *again.error;
  else if (again.hashes != outcome.hashes)
    outcome.error =
        "the same seed was another run the second time: something depends on what is outside of the "
        "simulation, or is kept from one run to the next (static variables, addresses of objects)";
  return outcome;
}

// What an error is about: its first line without the words that have a digit, which differ from run to
// run.
std::string subject_of(const std::string& error) {
  std::istringstream words(error.substr(0, error.find('\n')));
  std::string subject;
  for (std::string word; words >> word;)
    if (word.find_first_of("0123456789") == word.npos) subject += word + ' ';
  return subject;
}

SeedFailure explain(std::uint64_t seed, const Outcome& first, bool twice,
                    const std::function<void()>& body, const std::string& trace_path) {
  SeedFailure failure{seed, *first.error, {}, {}, {}};
  failure.faults = shrink(first.asked, [&](const FaultPlan& plan) {
    const auto error = run_once_or_twice(seed, plan, twice, body).error;
    return error && subject_of(*error) == subject_of(*first.error);
  });
  const bool record = !trace_path.empty();
  const Outcome last = run(options_of(seed, failure.faults, record), body, trace_path);
  if (last.error) failure.error = *last.error;
  if (record)
    failure.trace = last.has_trace
                        ? fmt::format("what happened is in {}, which ui.perfetto.dev opens", trace_path)
                        : "what happened could not be written to " + trace_path;
  failure.environment = fmt::format("ACTORFLOW_SEED={}", seed);
  if (twice) failure.environment += " ACTORFLOW_TWICE=1";
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

bool twice_by_environment() { return number_in_environment("ACTORFLOW_TWICE").value_or(0) != 0; }

SimOptions of_this_seed(SimOptions options) {
  if (const auto* scope = SeedScope::current()) {
    options.seed = scope->options().seed;
    options.only = scope->options().only;
    options.record = scope->options().record;
  }
  return options;
}

std::string SeedFailure::to_string(const std::string& program) const {
  return fmt::format(
      "seed {} fails with {}: {}\nto see it again: {} {}", seed,
      faults.empty() ? "no fault at all" : fmt::format("these faults: {}", actorflow::to_string(faults)),
      error, environment, program.empty() ? "and the same program" : program);
}

std::optional<std::string> run_seed(std::uint64_t seed, const std::function<void()>& body) {
  return run_once_or_twice(seed, faults_of_environment(), twice_by_environment(), body).error;
}

std::optional<SeedFailure> run_seeds(SeedRange range, const std::function<void()>& body,
                                     const std::string& trace_path) {
  if (range.first > range.last)
    throw invalid_argument(
        fmt::format("no seed to run: the first, {}, is after the last, {}", range.first, range.last));
  const std::optional<FaultPlan> only = faults_of_environment();
  const bool twice = twice_by_environment();
  for (std::uint64_t seed = range.first;; ++seed) {
    const Outcome outcome = run_once_or_twice(seed, only, twice, body);
    if (outcome.error) return explain(seed, outcome, twice, body, trace_path);
    if (seed == range.last) return std::nullopt;
  }
}

}  // namespace actorflow
