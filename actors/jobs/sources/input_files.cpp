#include "actors/jobs/sources/input_files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "actors/runtime/file_times.h"
#include "dataflow/values/comma_list.h"
#include "dataflow/values/error.h"
#include "schema/checksum.h"
#include "schema/formats/compression.h"

namespace actorflow {
namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{64} << 10;
constexpr std::uint64_t least_pieces = 4, most_pieces = 16;  // of a split

bool has_wildcard(const std::string& text) { return text.find_first_of("*?[") != text.npos; }

// What a job has left whose process was killed: its records are in no other file, or in another one,
// too.
bool is_unfinished(const std::string& name) {
  return name.starts_with("part-") && name.find("-of-") != name.npos && name.ends_with(".tmp");
}

std::vector<std::string> files_in(Storage& storage, const std::string& folder,
                                  const std::string& pattern) {
  std::vector<std::string> paths;
  for (const auto& name : storage.list(folder)) {
    if (is_unfinished(name) ||
        (pattern.empty() ? name.starts_with('.') || name.starts_with('_')
                         : fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) != 0))
      continue;
    paths.push_back(folder == "." ? name : folder + "/" + name);
  }
  return paths;
}

std::vector<std::string> matching(Storage& storage, const std::string& pattern) {
  const auto slash = pattern.find_last_of('/');
  const std::string folder = slash == pattern.npos ? "." : slash == 0 ? "/" : pattern.substr(0, slash);
  const std::string name = slash == pattern.npos ? pattern : pattern.substr(slash + 1);
  if (has_wildcard(folder))
    throw invalid_argument(
        fmt::format("'{}': wildcards are understood in the last component only; name the folders, with "
                    "commas between",
                    pattern));
  if (has_wildcard(name)) return files_in(storage, folder, name);
  if (name.empty()) return files_in(storage, folder, "");
  if (storage.exists(pattern)) return {pattern};
  return files_in(storage, pattern, "");
}

// What nothing would be read of, without a word.
[[noreturn]] void throw_cut(const std::string& path, const char* format) {
  throw Error(Code::data_loss,
              fmt::format("'{}' has no bytes, and even without content {} begins with a "
                          "header: the file was cut; write it again, or remove it",
                          path, format));
}

std::string times_of(Storage& storage, const std::vector<FileSize>& files) {
  constexpr std::int64_t second = 1'000'000'000;
  auto* const known = dynamic_cast<FileTimes*>(&storage);
  if (!known) return "";
  std::vector<std::int64_t> times;
  for (const auto& file : files) times.push_back(known->changed_ns(file.path));
  const std::int64_t last = times.empty() ? 0 : *std::ranges::max_element(times);
  return fmt::format("last changed at {:%Y-%m-%d %H:%M:%S}.{:09} UTC ({:016x})",
                     fmt::gmtime(static_cast<std::time_t>(last / second)), last % second,
                     checksum(std::as_bytes(std::span(times))));
}

}  // namespace

std::uint64_t InputFiles::size(const std::vector<Split>& splits) const {
  std::uint64_t sum = 0;
  for (const auto& split : splits) sum += size(split);
  return sum;
}

void InputFiles::expect_headers(const char* format) const {
  for (const auto& file : files)
    if (file.bytes == 0) throw_cut(file.path, format);
}

std::string InputFiles::describe() const {
  std::string list;
  for (const auto& file : files) list += fmt::format("{}:{}\n", file.path, file.bytes);
  return fmt::format("{} files of {} bytes ({:016x})", files.size(), bytes,
                     checksum(std::as_bytes(std::span(list))));
}

const std::string& InputFiles::describe_times(Storage& storage) const {
  if (!times_) times_ = times_of(storage, files);
  return *times_;
}

std::string InputFiles::warning(std::uint64_t split_bytes) const {
  const FileSize* largest = nullptr;
  std::size_t count = 0;
  for (const auto& file : files) {
    if (file.bytes <= split_bytes || is_splittable(file.path)) continue;
    ++count;
    if (!largest || file.bytes > largest->bytes) largest = &file;
  }
  if (!largest) return "";
  return fmt::format(
      "'{}' of {} MB{} cannot be cut: one thread reads all of it, as of all compressed "
      "files and TFRecords. Several smaller files are read at once",
      largest->path, largest->bytes / 1'000'000,
      count > 1 ? fmt::format(", and {} like it,", count - 1) : "");
}

std::shared_ptr<const InputFiles> find_input(Storage& storage, const std::string& pattern,
                                             std::uint64_t split_bytes) {
  auto input = std::make_shared<InputFiles>();
  std::vector<std::string> paths;
  for (const auto& item : split_at_commas(pattern)) {
    if (item.empty()) continue;
    const auto found = matching(storage, item);
    if (found.empty())
      throw Error(
          Code::not_found,
          fmt::format("there is no file for the input '{}', nor one in a folder of that name: give a "
                      "file, a folder, or a pattern such as 'books/*.txt'. Of a folder, folders in it "
                      "and names that begin with '.' or '_' are not looked into",
                      item));
    paths.insert(paths.end(), found.begin(), found.end());
  }
  if (paths.empty()) throw invalid_argument("the input names no file: give --input");
  std::ranges::sort(paths);
  paths.erase(std::ranges::unique(paths).begin(), paths.end());
  for (auto& path : paths) {
    const std::uint64_t bytes = storage.open(path)->size_bytes();
    if (bytes == 0 && compression_of(path) != Compression::none) throw_cut(path, "a compressed file");
    input->bytes += bytes;
    input->files.push_back({std::move(path), bytes});
  }
  input->parts = plan_splits(input->files, split_bytes);
  return input;
}

std::vector<Split> pieces_of(const InputFiles& input, const std::vector<Split>& splits) {
  std::vector<Split> pieces;
  for (const auto& split : splits) {
    const std::uint64_t size = input.size(split);
    const std::uint64_t count =
        std::clamp<std::uint64_t>(size / piece_bytes / 4, least_pieces, most_pieces);
    if (size <= least_pieces * piece_bytes || split.end == Split::to_its_end) {
      pieces.push_back(split);
      continue;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t begin = split.begin + size * i / count;
      pieces.push_back({split.file, begin, std::min(split.end, begin + piece_bytes)});
    }
  }
  return pieces;
}

}  // namespace actorflow
