#include "actors/input/dataset.h"

#include <fmt/format.h>

#include <utility>

#include "actors/input/file_source.h"
#include "actors/input/stages.h"
#include "actors/runtime/storage.h"

namespace actorflow {
namespace {

void expect(bool holds, std::string_view stage, std::string_view expected, std::int64_t actual) {
  if (!holds)
    throw invalid_argument(fmt::format("Dataset::{}: expected {}, got {}", stage, expected, actual));
}

void expect_some(std::size_t count, std::string_view source, std::string_view what) {
  if (count == 0) throw invalid_argument(fmt::format("Dataset::{}: expected {}, got none", source, what));
}

Storage& files_of(const InputContext& context) {
  return context.storage ? *context.storage : posix_storage();
}

Dataset of_file(const std::string& path, std::function<std::unique_ptr<ElementReader>(SourceRef)> read) {
  return Dataset([path, read = std::move(read)](const InputContext& context) {
    return reader_stage(
        [path, read](const InputContext& c) { return read(open_data_file_or_gzip(files_of(c), path)); },
        context);
  });
}

Dataset of_files(const std::vector<std::string>& paths, std::string_view source,
                 const std::function<std::unique_ptr<ElementReader>(SourceRef)>& read) {
  expect_some(paths.size(), source, "a file or more");
  std::vector<Dataset> files;
  for (const auto& path : paths) files.push_back(of_file(path, read));
  return files.size() == 1 ? files[0] : Dataset::concatenate(files);
}

std::vector<StageRef> open_all(const std::vector<Dataset>& datasets, const InputContext& context) {
  std::vector<StageRef> stages;
  for (const auto& dataset : datasets) stages.push_back(dataset.open(context));
  return stages;
}

// The last stage of a dataset that becomes part of another would read ahead for nobody.
void expect_no_prefetch(const std::vector<Dataset>& datasets) {
  for (const auto& dataset : datasets)
    if (dataset.prefetched() > 0)
      throw invalid_argument("Dataset::prefetch must be the last stage; move it behind the others");
}

}  // namespace

Dataset Dataset::tensors(Tuple columns) {
  rows_of(columns);  // throws
  return Dataset([columns = std::move(columns)](const InputContext&) { return tensors_stage(columns); });
}

Dataset Dataset::cifar10(const std::vector<std::string>& paths) {
  return of_files(paths, "cifar10", read_cifar10);
}
Dataset Dataset::tfrecords(const std::vector<std::string>& paths) {
  return of_files(paths, "tfrecords", read_tfrecords);
}
Dataset Dataset::lines(const std::vector<std::string>& paths) {
  return of_files(paths, "lines", read_lines);
}
Dataset Dataset::csv(const std::vector<std::string>& paths, const CsvOptions& options) {
  return of_files(paths, "csv",
                  [options](SourceRef source) { return read_csv(std::move(source), options); });
}

Dataset Dataset::idx(const std::vector<std::string>& paths) {
  expect_some(paths.size(), "idx", "a file or more");
  std::vector<Dataset> files;
  for (const auto& path : paths) files.push_back(of_file(path, read_idx));
  if (files.size() == 1) return files[0];
  return Dataset([files, names = fmt::format("{}", fmt::join(paths, ", "))](const InputContext& context) {
    return zip_stage(open_all(files, context), true, names);
  });
}

Dataset Dataset::zip(const std::vector<Dataset>& datasets) {
  expect_some(datasets.size(), "zip", "a dataset or more");
  expect_no_prefetch(datasets);
  return Dataset([datasets](const InputContext& context) {
    return zip_stage(open_all(datasets, context), false, {});
  });
}

Dataset Dataset::concatenate(const std::vector<Dataset>& datasets) {
  expect_some(datasets.size(), "concatenate", "a dataset or more");
  expect_no_prefetch(datasets);
  return Dataset(
      [datasets](const InputContext& context) { return concatenate_stage(open_all(datasets, context)); });
}

Dataset Dataset::interleave(const std::vector<Dataset>& datasets, const InterleaveOptions& options) {
  expect_some(datasets.size(), "interleave", "a dataset or more");
  expect(options.block_length >= 1, "interleave", "a block_length of 1 or more", options.block_length);
  expect_no_prefetch(datasets);
  return Dataset([datasets, options](const InputContext& context) {
    return interleave_stage(open_all(datasets, context), options.block_length);
  });
}

Dataset Dataset::then(std::function<StageRef(StageRef input, const InputContext&)> stage) const {
  expect_no_prefetch({*this});
  return Dataset([open = open_, stage = std::move(stage)](const InputContext& context) {
    return stage(open(context), context);
  });
}

Dataset Dataset::shuffle(const ShuffleOptions& options) const {
  constexpr std::int64_t most = std::int64_t{1} << 32;
  expect(options.buffer >= 0 && options.buffer < most, "shuffle",
         "a buffer of 0 (all elements) or more elements, below 2^32", options.buffer);
  return then([options](StageRef input, const InputContext&) {
    return options.buffer == 0 ? shuffle_all_stage(std::move(input), options)
                               : shuffle_buffer_stage(std::move(input), options);
  });
}

Dataset Dataset::shard(std::int64_t count, std::int64_t index) const {
  expect(count >= 1, "shard", "a count of 1 or more", count);
  expect(index >= 0 && index < count, "shard", fmt::format("an index below the count, {}", count), index);
  return then([count, index](StageRef input, const InputContext&) {
    return shard_stage(std::move(input), count, index);
  });
}

Dataset Dataset::batch(std::int64_t size, const BatchOptions& options) const {
  expect(size >= 1, "batch", "a size of 1 or more", size);
  return then([size, options](StageRef input, const InputContext&) {
    return batch_stage(std::move(input), size, options);
  });
}

Dataset Dataset::repeat(std::int64_t passes) const {
  expect(passes >= -1, "repeat", "passes of 0 or more, or -1 for no end", passes);
  return then([passes](StageRef input, const InputContext&) {
    return repeat_stage(std::move(input), passes);
  });
}

Dataset Dataset::map(Map function, const MapOptions& options) const {
  expect(options.parallel >= 1, "map", "1 element or more in parallel", options.parallel);
  return then([function = std::move(function), options](StageRef input, const InputContext& context) {
    if (options.parallel == 1) return map_stage(std::move(input), function);
    return parallel_map_stage(std::move(input), function, options.parallel, context.team);
  });
}

Dataset Dataset::parse_examples(std::vector<ExampleFeature> features, const MapOptions& options) const {
  check_features(features);
  const auto parse = [features = std::move(features)](const Tuple& element) {
    if (element.size() != 1 || element[0].dtype() != DType::string || element[0].shape().rank() != 0)
      throw invalid_argument("Dataset::parse_examples: expected records, a string each, got " +
                             describe(element));
    return parse_example(element[0].scalar<std::string>(), features);
  };
  return map(parse, options);
}

Dataset Dataset::filter(Predicate keeps) const {
  return then([keeps = std::move(keeps)](StageRef input, const InputContext&) {
    return filter_stage(std::move(input), keeps);
  });
}

Dataset Dataset::take(std::int64_t count) const {
  expect(count >= 0, "take", "a count of 0 or more", count);
  return then([count](StageRef input, const InputContext&) { return take_stage(std::move(input), count); });
}

Dataset Dataset::skip(std::int64_t count) const {
  expect(count >= 0, "skip", "a count of 0 or more", count);
  return then([count](StageRef input, const InputContext&) { return skip_stage(std::move(input), count); });
}

Dataset Dataset::prefetch(std::int64_t elements) const {
  expect(elements >= 0, "prefetch", "0 elements or more", elements);
  Dataset ahead = *this;
  ahead.prefetch_ = elements;
  return ahead;
}

Tuple read_all(const Dataset& dataset, const InputContext& context) {
  constexpr std::int64_t at_a_time = 1 << 20;
  const StageRef stage = dataset.open(context);
  stage->restart(0);
  RowStacker rows(0);
  while (stage->append(at_a_time, rows) == at_a_time) {
  }
  return rows.take();
}

}  // namespace actorflow
