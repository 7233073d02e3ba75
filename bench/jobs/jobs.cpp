// Map/reduce jobs: the programs of apps/ as processes, from files to files, against plain loops in this
// process that read and write the same, on as many threads, and against what people use today.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/harness.h"
#include "bench/jobs/job_files.h"
#include "bench/jobs/plain_shuffle.h"
#include "schema/records/key.h"

namespace actorflow::bench {
namespace {

namespace fs = std::filesystem;

constexpr int rounds = 3;
constexpr int threads = job_threads;

// What the peers' script prints: seconds.
double seconds_of_peer(const std::string& peer, const std::string& job, const std::string& arguments) {
  const char* chosen = std::getenv("ACTORFLOW_PYTHON");
  const std::string python = chosen && *chosen ? chosen : "python3";
  if (std::system(fmt::format("{} -c 'import {}' >/dev/null 2>&1", python, peer).c_str()) != 0)
    throw Skipped(fmt::format("{} has no {} (ACTORFLOW_PYTHON names another)", python, peer));
  const std::string command =
      fmt::format("{} {} {} {} {} {}", python, ACTORFLOW_BENCH_SCRIPTS "/jobs/jobs_peers.py", peer, job,
                  threads, arguments);
  std::FILE* const pipe = popen(command.c_str(), "r");
  double seconds = 0;
  const bool read = pipe && std::fscanf(pipe, "%lf", &seconds) == 1;
  if ((pipe && pclose(pipe) != 0) || !read) throw std::runtime_error("failed: " + command);
  return seconds;
}

std::vector<char> bytes_of(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  std::vector<char> bytes(end - begin);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(begin));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

// Words of a share of a text that is held in memory, without care for those that the border cuts: as
// fast as one writes it by hand.
void count_words(const std::vector<char>& text, PlainTable& counts) {
  const auto is_space = [](char c) { return c == ' ' || ('\t' <= c && c <= '\r'); };
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    while (at != end && is_space(*at)) ++at;
    const char* const begin = at;
    while (at != end && !is_space(*at)) ++at;
    const std::string_view word(begin, static_cast<std::size_t>(at - begin));
    if (!word.empty()) counts.count(hash_bytes(std::as_bytes(std::span(word))), word);
  }
}

double plain_word_count(const std::string& path) {
  return seconds_of([&] {
    const std::uint64_t size = fs::file_size(path);
    std::array<std::vector<char>, threads> texts;
    std::array<PlainTable, threads> tables;
    std::vector<std::thread> team;
    for (std::size_t i = 0; i < threads; ++i)
      team.emplace_back([&, i] {
        texts[i] = bytes_of(path, size * i / threads, size * (i + 1) / threads);
        count_words(texts[i], tables[i]);
      });
    for (auto& thread : team) thread.join();
    std::map<std::string_view, std::int64_t> all;
    for (const auto& table : tables)
      table.for_each([&](std::string_view word, std::int64_t count) { all[word] += count; });
    std::ofstream out(job_folder() + "/plain.csv", std::ios::binary);
    for (const auto& [word, count] : all) out << word << ',' << count << '\n';
  });
}

double word_count(const std::string& path) {
  return seconds_of_program("word_count",
                            fmt::format("--input {} --output {}/counts", path, job_folder()));
}

Benchmark word_count_against(const std::string& peer, double bar) {
  return {"jobs/word_count_" + peer, "s", peer, at_most(bar), [peer](bool quick) {
            const std::string path = text_of(quick ? 1'000'000 : 400'000'000);
            return in_turn(
                quick ? 1 : rounds, [&] { return word_count(path); },
                [&] {
                  return seconds_of_peer(peer, "word_count", path + " " + job_folder() + "/peer.csv");
                });
          }};
}

// Two halves by the first byte of the key, each sorted by its thread: prefix and place, then the records
// gathered.
double plain_sort(const std::string& path) {
  constexpr std::size_t size = 100;
  struct Entry {
    std::uint64_t prefix, index;
  };
  return seconds_of([&] {
    std::vector<char> records;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.path().extension() == ".bin") files.push_back(entry.path());
    std::ranges::sort(files);
    for (const auto& file : files) {
      const auto bytes = bytes_of(file, 0, fs::file_size(file));
      records.insert(records.end(), bytes.begin(), bytes.end());
    }
    std::vector<std::thread> team;
    for (int half = 0; half < threads; ++half)
      team.emplace_back([&, half] {
        std::vector<Entry> entries;
        for (std::size_t i = 0; i < records.size() / size; ++i) {
          std::uint64_t prefix = 0;
          std::memcpy(&prefix, records.data() + i * size, sizeof prefix);
          prefix = __builtin_bswap64(prefix);
          if (static_cast<int>(prefix >> 63U) == half) entries.push_back({prefix, i});
        }
        std::ranges::sort(entries, [&](const Entry& a, const Entry& b) {
          if (a.prefix != b.prefix) return a.prefix < b.prefix;
          const int order =
              std::memcmp(records.data() + a.index * size, records.data() + b.index * size, 10);
          return order != 0 ? order < 0 : a.index < b.index;
        });
        std::ofstream out(fmt::format("{}/plain{}.bin", job_folder(), half), std::ios::binary);
        std::vector<char> block;
        for (const Entry& entry : entries) {
          block.insert(block.end(), records.data() + entry.index * size,
                       records.data() + (entry.index + 1) * size);
          if (block.size() >= std::size_t{1} << 20U) {
            out.write(block.data(), static_cast<std::streamsize>(block.size()));
            block.clear();
          }
        }
        out.write(block.data(), static_cast<std::streamsize>(block.size()));
      });
    for (auto& thread : team) thread.join();
  });
}

double terasort(const std::string& path, const std::string& memory) {
  return seconds_of_program(
      "terasort", fmt::format("--input {} --output {}/sorted --memory {} --spill_folder {}", path,
                              job_folder(), memory, job_folder()));
}

// Two copies of all files, as one reads and writes once more than needed.
double copy_twice(const std::string& path) {
  return seconds_of([&] {
    run_command(fmt::format("cp -r {0} {1}/copy1 && cp -r {0} {1}/copy2 && rm -r {1}/copy1 {1}/copy2",
                            path, job_folder()));
  });
}

}  // namespace

std::vector<Benchmark> jobs_benchmarks() {
  return {
      {"jobs/word_count", "s", "a plain loop on two threads", at_most(1.25),
       [](bool quick) {
         const std::string path = text_of(quick ? 1'000'000 : 400'000'000);
         return in_turn(
             quick ? 1 : rounds, [&] { return word_count(path); },
             [&] { return plain_word_count(path); });
       }},
      word_count_against("polars", 0.8),
      word_count_against("duckdb", 0.35),
      {"jobs/terasort_in_memory", "s", "key sort and gather on two threads", at_most(1.5),
       [](bool quick) {
         const std::string path = records_of(quick ? 10'000 : 10'000'000);
         return in_turn(
             quick ? 1 : rounds, [&] { return terasort(path, "4GB"); },
             [&] { return plain_sort(path); });
       }},
      {"jobs/terasort_with_a_tenth_of_memory", "s", "cp of the input twice", at_most(1.5),
       [](bool quick) {
         const std::string path = records_of(quick ? 10'000 : 10'000'000);
         return in_turn(
             quick ? 1 : rounds, [&] { return terasort(path, "100MiB"); },
             [&] { return copy_twice(path); });
       }},
  };
}

}  // namespace actorflow::bench
