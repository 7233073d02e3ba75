// Jobs over words: the programs of apps/ as processes, from files to files, against a plain loop in this
// process that reads and writes the same, on as many threads, against what people use today, and many
// files against one.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/harness.h"
#include "bench/jobs/job_files.h"
#include "bench/jobs/job_peers.h"
#include "bench/jobs/plain_shuffle.h"
#include "schema/records/csv_record.h"
#include "schema/records/key.h"

namespace actorflow::bench {
namespace {

namespace fs = std::filesystem;

std::vector<char> bytes_of(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  std::vector<char> bytes(end - begin);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(begin));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

// The place behind the line that contains this place.
std::uint64_t end_of_line(const std::string& path, std::uint64_t place) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(place));
  std::string rest;
  std::getline(file, rest);
  return place + rest.size() + 1;
}

// Words of a share of a text that is held in memory: as fast as one writes it by hand.
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
    const std::uint64_t middle = end_of_line(path, size / 2);
    std::array<std::vector<char>, job_threads> texts;
    std::array<PlainTable, job_threads> tables;
    std::vector<std::thread> team;
    for (std::size_t i = 0; i < job_threads; ++i)
      team.emplace_back([&, i] {
        texts[i] = i == 0 ? bytes_of(path, 0, middle) : bytes_of(path, middle, size);
        count_words(texts[i], tables[i]);
      });
    for (auto& thread : team) thread.join();
    std::map<std::string_view, std::int64_t> all;
    for (const auto& table : tables)
      table.for_each([&](std::string_view word, std::int64_t count) { all[word] += count; });
    std::string lines;
    for (const auto& row : all) {
      append_csv(std::pair{row.first, row.second}, lines);
      lines += '\n';
    }
    fs::create_directories(job_folder() + "/plain");
    std::ofstream(job_folder() + "/plain/part-0.csv", std::ios::binary) << lines;
  });
}

double word_count(const std::string& path) {
  return seconds_of_program("word_count",
                            fmt::format("--input {} --output {}/counts", path, job_folder()));
}

Benchmark word_count_against(const std::string& peer, double bar) {
  return {"jobs/word_count_" + peer, "s", peer, at_most(bar), [peer](bool quick) {
            const std::string path = text_of(quick ? 1'000'000 : 400'000'000);
            const Measurement measured = in_turn(
                quick ? 1 : job_turns, [&] { return word_count(path); },
                [&] {
                  return seconds_of_peer(
                      peer, "word_count",
                      fmt::format("input={} output={}/peer/part-0.csv", path, job_folder()));
                });
            expect_lines(job_folder() + "/counts", job_folder() + "/peer");
            return measured;
          }};
}

double inverted_index(const std::string& path, const std::string& output) {
  return seconds_of_program("inverted_index",
                            fmt::format("--input {} --output {} --memory 4GB", path, output));
}

}  // namespace

std::vector<Benchmark> jobs_benchmarks() {
  return {
      {"jobs/word_count", "s", "a plain loop on two threads", at_most(1.25),
       [](bool quick) {
         const std::string path = text_of(quick ? 1'000'000 : 400'000'000);
         const Measurement measured = in_turn(
             quick ? 1 : job_turns, [&] { return word_count(path); },
             [&] { return plain_word_count(path); });
         expect_lines(job_folder() + "/counts", job_folder() + "/plain");
         return measured;
       }},
      word_count_against("polars", 0.8),
      word_count_against("duckdb", 0.35),
      word_count_against("pyspark", 0.2),
      {"jobs/word_count_2000_files", "s", "one file", at_most(1.2),
       [](bool quick) {
         const std::uint64_t bytes = quick ? 10'000'000 : 1'000'000'000;
         const std::string one = text_of(bytes), many = text_in_files(bytes, 2000);
         const Measurement measured = in_turn(
             quick ? 1 : job_turns, [&] { return word_count(many); }, [&] { return word_count(one); });
         word_count(many);
         fs::rename(job_folder() + "/counts", job_folder() + "/many_counts");
         word_count(one);
         expect_lines(job_folder() + "/counts", job_folder() + "/many_counts");
         return measured;
       }},
      {"jobs/inverted_index_2000_files", "s", "one file", at_most(1.2),
       [](bool quick) {
         const std::uint64_t bytes = quick ? 10'000'000 : 1'000'000'000;
         const std::string one = text_of(bytes), many = text_in_files(bytes, 2000);
         const std::string output = job_folder() + "/index";
         const Measurement measured = in_turn(
             quick ? 1 : job_turns, [&] { return inverted_index(many, output); },
             [&] { return inverted_index(one, output + "_of_one"); });
         expect_judged("duckdb", "inverted_index", fmt::format("input={} output={}", many, output));
         return measured;
       }},
  };
}

}  // namespace actorflow::bench
