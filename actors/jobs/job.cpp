#include "actors/jobs/job.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/jobs/context/engine_options.h"
#include "actors/runtime/threaded_runtime.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The layout of a parameter, as in "int32", in words.
std::string in_words(const std::string& layout) {
  if (layout.starts_with("uint")) return fmt::format("a whole number of 0 or more ({})", layout);
  if (layout.starts_with("int")) return fmt::format("a whole number ({})", layout);
  return layout.starts_with("float") ? "a number" : layout;
}

}  // namespace

Job::Job(JobOptions options, std::shared_ptr<Runtime> runtime) {
  const JobEngineOptions of_engine = engine_options(options);
  if (!runtime)
    runtime = std::make_shared<ThreadedRuntime>(
        RuntimeOptions{.num_threads = static_cast<int>(options.threads)});
  auto engine = std::make_unique<JobEngine>(std::move(runtime), of_engine);
  state_ = std::make_shared<JobContext>(std::move(options), std::move(engine));
}

Job::Job(JobOptions options, std::unique_ptr<JobEngine> engine)
    : state_(std::make_shared<JobContext>(std::move(options), std::move(engine))) {}

const std::string& Job::param(const std::string& name) const {
  static const std::string nothing;
  if (const std::string* text = state_->parameters().ask(name, std::nullopt)) return *text;
  if (state_->lists_parameters()) return nothing;
  state_->parameters().throw_wanted(name);
}

std::int64_t Job::count_param(const std::string& name, std::int64_t otherwise) const {
  const std::int64_t count = param(name, otherwise);
  if (count < 1) throw invalid_argument(fmt::format("--{}: expected 1 or more, got {}", name, count));
  return count;
}

double Job::rate_param(const std::string& name, double otherwise) const {
  const double rate = param(name, otherwise);
  if (!std::isfinite(rate) || rate < 0)
    throw invalid_argument(fmt::format("--{}: expected a number of 0 or more, got {}", name, rate));
  return rate;
}

std::vector<std::string> Job::input_files(const std::string& pattern) const {
  if (state_->lists_parameters()) throw PlanIsComplete();
  const auto input = find_input(state_->storage(), pattern, state_->options().split_bytes);
  std::vector<std::string> paths;
  for (const auto& file : input->files) paths.push_back(file.path);
  return paths;
}

std::shared_ptr<const InputFiles> Job::find_files(const std::string& pattern) const {
  if (state_->lists_parameters()) return std::make_shared<const InputFiles>();
  const std::uint64_t split_bytes = state_->options().split_bytes;
  auto input = find_input(state_->storage(), pattern, split_bytes);
  if (const std::string warning = input->warning(split_bytes); !warning.empty() && coordinates())
    spdlog::warn("{}", warning);
  for (const auto& file : input->files) {
    const auto slash = file.path.find_last_of('/');
    state_->folders().read.insert(slash == file.path.npos ? "." : file.path.substr(0, slash + 1));
  }
  return input;
}

std::shared_ptr<const InputFiles> Job::find_whole_files(const std::string& pattern) const {
  auto input = std::make_shared<InputFiles>(*find_files(pattern));
  input->parts = plan_splits(input->files, state_->options().split_bytes, [](auto) { return false; });
  return input;
}

bool Job::are_parquet(const std::string& pattern) const {
  if (state_->lists_parameters()) return false;
  const auto files = find_input(state_->storage(), pattern, state_->options().split_bytes)->files;
  const auto is_parquet = [](const FileSize& file) { return file.path.ends_with(".parquet"); };
  const auto first = std::ranges::find_if(files, is_parquet),
             other = std::ranges::find_if_not(files, is_parquet);
  if (first != files.end() && other != files.end())
    throw invalid_argument(
        fmt::format("'{}' is a Parquet file, but '{}' is none, by their names: expected files of one "
                    "format for '{}'",
                    first->path, other->path, pattern));
  return first != files.end();
}

std::shared_ptr<const CsvFiles> Job::check_headers(std::span<const FileSize> files,
                                                   const CsvInput& options) const {
  if (state_->lists_parameters()) return std::make_shared<const CsvFiles>();
  return match_headers(state_->storage(), files, options);
}

std::shared_ptr<const ParquetTable> Job::check_columns(std::span<const FileSize> files,
                                                       std::vector<std::string> names,
                                                       std::vector<ParquetField> fields) const {
  if (state_->lists_parameters()) return std::make_shared<const ParquetTable>();
  auto table = check_parquet(state_->storage(), files, std::move(names), std::move(fields),
                             state_->options().split_bytes, state_->options().memory_bytes / 2);
  if (!table->warning.empty() && coordinates()) spdlog::warn("{}", table->warning);
  return table;
}

void Job::throw_bad_parameter(const std::string& name, const std::string& expected,
                              const std::string& text) {
  throw invalid_argument(fmt::format("--{}: expected {}, got '{}'", name, in_words(expected), text));
}

}  // namespace actorflow
