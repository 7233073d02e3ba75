#include "apps/training/data/image_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "actors/runtime/storage.h"
#include "dataflow/values/error.h"
#include "schema/event.h"
#include "schema/example.h"
#include "schema/formats/png.h"
#include "schema/tfrecord.h"

namespace actorflow {
namespace {

const std::string train_part = "train", test_part = "test";

// One of the files of a part: its number, of how many, and what stands before the number.
struct RecordFile {
  int number = 0, count = 0;
  std::string stem;  // "cifar10-train.tfrecord"
};

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// The inverse of file_name().
std::optional<RecordFile> parse_name(const std::string& name, const std::string& part) {
  const std::string stem = part + ".tfrecord";
  const auto at = name.find(stem + "-");
  if (at == std::string::npos || (at > 0 && name[at - 1] != '-')) return std::nullopt;
  const std::string numbers = name.substr(at + stem.size() + 1);
  const auto of = numbers.find("-of-");
  if (of == std::string::npos) return std::nullopt;
  const auto number = parse_number(numbers.substr(0, of)), count = parse_number(numbers.substr(of + 4));
  if (!number || !count || *number >= *count) return std::nullopt;
  return RecordFile{*number, *count, name.substr(0, at + stem.size())};
}

std::string file_name(const std::string& stem, int number, int count) {
  return fmt::format("{}-{:05}-of-{:05}", stem, number, count);
}

std::vector<RecordFile> files_of(const std::string& folder, const std::string& part) {
  std::vector<RecordFile> files;
  for (const std::string& name : posix_storage().list(folder))
    if (auto file = parse_name(name, part)) files.push_back(std::move(*file));
  return files;
}

// All files of a part in their order.
std::vector<std::string> paths_of(const std::string& folder, const std::string& part) {
  const auto files = files_of(folder, part);
  if (files.empty())
    throw Error(
        Code::not_found,
        fmt::format("{} has no record files {}.tfrecord-...; name a folder that has all", folder, part));
  const auto& [first, count, stem] = files.front();
  std::vector<std::string> paths;
  for (int number = 0; number < count; ++number) {
    paths.push_back(folder + "/" + file_name(stem, number, count));
    if (!posix_storage().exists(paths.back()))
      throw Error(Code::not_found,
                  fmt::format("{}: one of {} record files is missing; name a folder that has all",
                              paths.back(), count));
  }
  for (const auto& file : files)
    if (file.count != count || file.stem != stem)
      throw Error(
          Code::data_loss,
          fmt::format("{} has record files of two data sets, {} and {}; name a folder of one", folder,
                      file_name(stem, first, count), file_name(file.stem, file.number, file.count)));
  return paths;
}

Tuple decoded(const Tuple& example) {
  const auto label = example[1].scalar<std::int64_t>();
  if (label < 0 || label > 255)
    throw Error(Code::data_loss, fmt::format("expected a label from 0 to 255, got {}", label));
  return {decode_png(example[0].scalar<std::string>()),
          Tensor::scalar(static_cast<std::uint8_t>(label))};
}

LabelledImages load_part(const std::string& folder, const std::string& part) {
  const std::vector<ExampleFeature> features{{"image", DType::string}, {"label", DType::int64}};
  const auto paths = paths_of(folder, part);
  const Dataset examples = Dataset::tfrecords(paths).parse_examples(features).map(decoded);
  const Tuple columns = read_all(examples, {&posix_storage(), nullptr});
  if (columns.empty()) throw Error(Code::data_loss, paths[0] + ": expected images, but it has none");
  return {columns[0], columns[1], 1 + std::ranges::max(columns[1].values<std::uint8_t>())};
}

// Image `i` as the record of an example.
std::string encode_record(const LabelledImages& data, std::int64_t i) {
  const Shape image = data.image();
  const auto size = static_cast<std::size_t>(image.elements());
  const auto pixels =
      data.images.values<std::uint8_t>().subspan(static_cast<std::size_t>(i) * size, size);
  const ImageSummary encoded = encode_image(static_cast<int>(image[0]), static_cast<int>(image[1]),
                                            static_cast<int>(image[2]), pixels);
  const std::int64_t label = data.labels.values<std::uint8_t>()[static_cast<std::size_t>(i)];
  return encode_example({{"image", Tensor::scalar(encoded.png)}, {"label", Tensor::scalar(label)}});
}

// False if it was stopped: then there is no such file.
bool write_file(const LabelledImages& data, std::int64_t begin, std::int64_t end,
                const std::string& path, const std::atomic<bool>& stopped) {
  constexpr std::size_t piece_bytes = 1 << 20;
  const auto file = posix_storage().create(path);
  std::vector<std::byte> records;
  for (std::int64_t i = begin; i < end; ++i) {
    if (stopped) return false;
    const std::string record = encode_record(data, i);
    append_record(records, std::as_bytes(std::span(record)));
    if (records.size() < piece_bytes && i + 1 < end) continue;
    file->write(records);
    records.clear();
  }
  file->commit();
  return true;
}

// Files that go again unless all of them are written.
class WrittenFiles {
 public:
  WrittenFiles() = default;
  WrittenFiles(const WrittenFiles&) = delete;
  WrittenFiles& operator=(const WrittenFiles&) = delete;
  ~WrittenFiles() {
    std::error_code stays;
    for (const auto& path : paths_) std::filesystem::remove(path, stays);
  }

  bool write_part(const LabelledImages& data, const std::string& stem, int shards,
                  const std::atomic<bool>& stopped) {
    for (int number = 0; number < shards; ++number) {
      paths_.push_back(file_name(stem, number, shards));
      if (!write_file(data, data.count() * number / shards, data.count() * (number + 1) / shards,
                      paths_.back(), stopped))
        return false;
    }
    return true;
  }
  void keep() { paths_.clear(); }

 private:
  std::vector<std::string> paths_;
};

}  // namespace

bool has_image_records(const std::string& folder) {
  return !files_of(folder, train_part).empty() || !files_of(folder, test_part).empty();
}

ImageData load_image_records(const std::string& folder) {
  return {load_part(folder, train_part), load_part(folder, test_part)};
}

bool write_image_records(const ImageData& data, const std::string& folder, int shards,
                         const std::atomic<bool>& stopped) {
  if (has_image_records(folder))
    throw Error(Code::already_exists,
                folder + " has record files already; name another folder, or remove them");
  WrittenFiles files;
  for (const auto& [images, part] : {std::pair(&data.train, train_part), {&data.test, test_part}})
    if (!files.write_part(*images, folder + "/" + part + ".tfrecord", shards, stopped)) return false;
  files.keep();
  return true;
}

}  // namespace actorflow
