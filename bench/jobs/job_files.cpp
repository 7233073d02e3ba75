#include "bench/jobs/job_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include "actors/input/file_source.h"
#include "apps/cli/data_folder.h"
#include "apps/rehearsal/temporary_folder.h"
#include "bench/harness.h"
#include "bench/program.h"
#include "schema/text_file.h"

namespace actorflow::bench {

namespace fs = std::filesystem;

namespace {

// 1.1 MB with 25,670 different words.
std::string all_plays() {
  const std::string path = data_path("shakespeare");
  if (!path.ends_with(".gz")) throw Skipped("no apps/data/shakespeare.txt.gz");
  const auto file = open_data_file(posix_storage(), path);
  std::string text;
  std::array<std::byte, std::size_t{1} << 16> block;
  while (const std::size_t size = file->read(block))
    text.append(reinterpret_cast<const char*>(block.data()), size);
  return text;
}

}  // namespace

void run_command(const std::string& command) {
  if (std::system((command + " >/dev/null").c_str()) != 0)
    throw std::runtime_error("failed: " + command);
}

double seconds_of_program(const std::string& name, const std::string& arguments) {
  return seconds_of([&] {
    run_command(fmt::format("{} {} --tasks {} --quiet --overwrite", path_of_program(name), arguments,
                            job_threads));
  });
}

const std::string& job_folder() {
  static const TemporaryFolder files("actorflow-bench");
  static const std::string path = files.path();
  return path;
}

std::string text_of(std::uint64_t bytes) {
  const std::string path = fmt::format("{}/text{}", job_folder(), bytes);
  if (fs::exists(path)) return path;
  const std::string once = all_plays();
  std::ofstream file(path, std::ios::binary);
  for (std::uint64_t written = 0; written < bytes; written += once.size()) file << once;
  return path;
}

std::string text_in_files(std::uint64_t bytes, int files) {
  const std::string path = fmt::format("{}/text{}in{}", job_folder(), bytes, files);
  if (fs::exists(path)) return path;
  fs::create_directory(path);
  const std::string text = read_text_file(text_of(bytes)).value();
  const auto count = static_cast<std::size_t>(files);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t line_end = text.find('\n', std::max(begin, text.size() * (i + 1) / count));
    const std::size_t end = std::min(line_end, text.size() - 1) + 1;
    std::ofstream(fmt::format("{}/{:04}.txt", path, i), std::ios::binary)
        << std::string_view(text).substr(begin, end - begin);
    begin = end;
  }
  return path;
}

std::string records_of(std::uint64_t count, const std::string& keys) {
  const std::string path = fmt::format("{}/records{}{}", job_folder(), count, keys);
  if (!fs::exists(path))
    seconds_of_program("gensort",
                       fmt::format("gensort --records {} --output {} --keys {}", count, path, keys));
  return path;
}

std::vector<std::string> sorted_lines(const std::string& folder) {
  std::vector<std::string> lines;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("part-")) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
  }
  std::ranges::sort(lines);
  return lines;
}

void expect_files(const std::string& folder, const std::string& expected) {
  const auto files_of = [](const std::string& path) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(path))
      files[entry.path().filename().string()] = read_text_file(entry.path().string()).value();
    return files;
  };
  if (files_of(folder) != files_of(expected))
    throw std::runtime_error(fmt::format("the files in {} and {} differ", folder, expected));
}

void expect_lines(const std::string& folder, const std::string& expected) {
  if (sorted_lines(folder) != sorted_lines(expected))
    throw std::runtime_error(fmt::format("{} and {} differ", folder, expected));
}

}  // namespace actorflow::bench
