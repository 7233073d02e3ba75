// Sorting the sort benchmark's records: against a plain sort in this process on as many threads, against
// copying the files, and keys that repeat against keys that do not.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/harness.h"
#include "bench/jobs/job_files.h"
#include "bench/program.h"

namespace actorflow::bench {
namespace {

namespace fs = std::filesystem;

std::vector<char> read_all(const fs::path& path) {
  std::vector<char> bytes(fs::file_size(path));
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

// The beginning of a record's key, as a number in the order of keys, and the record's place.
struct Entry {
  std::uint64_t prefix, index;
};

// The records of all files in a folder, in the order of the files' names.
std::vector<char> read_records(const std::string& path) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".bin") files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<char> records;
  for (const auto& file : files) {
    const auto bytes = read_all(file);
    records.insert(records.end(), bytes.begin(), bytes.end());
  }
  return records;
}

// The entries of the records whose keys have this first bit, sorted by key.
std::vector<Entry> sorted_half(const std::vector<char>& records, int half) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < records.size() / record_bytes; ++i) {
    std::uint64_t prefix = 0;
    std::memcpy(&prefix, records.data() + i * record_bytes, sizeof prefix);
    prefix = __builtin_bswap64(prefix);
    if (static_cast<int>(prefix >> 63U) == half) entries.push_back({prefix, i});
  }
  std::ranges::sort(entries, [&](const Entry& a, const Entry& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = std::memcmp(records.data() + a.index * record_bytes,
                                  records.data() + b.index * record_bytes, key_bytes);
    return order != 0 ? order < 0 : a.index < b.index;
  });
  return entries;
}

// Writes the records in the order of the entries, in blocks of 1 MiB.
void write_gathered(const std::vector<char>& records, const std::vector<Entry>& entries,
                    const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  std::vector<char> block;
  for (const Entry& entry : entries) {
    block.insert(block.end(), records.data() + entry.index * record_bytes,
                 records.data() + (entry.index + 1) * record_bytes);
    if (block.size() >= std::size_t{1} << 20U) {
      out.write(block.data(), static_cast<std::streamsize>(block.size()));
      block.clear();
    }
  }
  out.write(block.data(), static_cast<std::streamsize>(block.size()));
}

// Seconds of a plain sort: two halves by the first bit of the key, each sorted and written by a thread
// of its own.
double plain_sort(const std::string& path) {
  return seconds_of([&] {
    const std::vector<char> records = read_records(path);
    std::vector<std::thread> team;
    for (int half = 0; half < job_threads; ++half)
      team.emplace_back([&records, half] {
        write_gathered(records, sorted_half(records, half),
                       fmt::format("{}/plain{}.bin", job_folder(), half));
      });
    for (auto& thread : team) thread.join();
  });
}

std::string sorted_folder() { return job_folder() + "/sorted"; }

double terasort(const std::string& path, const std::string& memory) {
  return seconds_of_program("terasort",
                            fmt::format("--input {} --output {} --memory {} --spill_folder {}", path,
                                        sorted_folder(), memory, job_folder()));
}

// Copies all files twice, as a sort does that reads and writes everything twice.
double copy_twice(const std::string& path) {
  const double seconds = seconds_of([&] {
    run_command(fmt::format("cp -r {0} {1}/copy1 && cp -r {0} {1}/copy2", path, job_folder()));
  });
  run_command(fmt::format("rm -r {0}/copy1 {0}/copy2", job_folder()));
  return seconds;
}

// valsort's summary of records: how many, their checksum, whether they are in order.
std::string summary_of(const std::string& path, const std::string& line) {
  std::istringstream lines(output_of(fmt::format("{} valsort --input {} --tasks {} --quiet || true",
                                                 path_of_program("gensort"), path, job_threads)));
  for (std::string text; std::getline(lines, text);)
    if (text.starts_with(line)) return text;
  throw std::runtime_error("valsort does not say " + line);
}

// Throws runtime_error if the sorted records are not those of the input, in order.
void expect_sorted(const std::string& input) {
  static std::map<std::string, std::string> checksums;
  std::string& expected = checksums[input];
  if (expected.empty()) expected = summary_of(input, "Records") + summary_of(input, "Checksum");
  if (summary_of(sorted_folder(), "Records") + summary_of(sorted_folder(), "Checksum") != expected)
    throw std::runtime_error("the sorted records are not those of " + input);
  summary_of(sorted_folder(), "SUCCESS");
}

Benchmark sort_against(const std::string& name, const std::string& memory, const std::string& against,
                       double (*baseline)(const std::string& path)) {
  return {"jobs/terasort_" + name, "s", against, at_most(1.5), [=](bool quick) {
            const std::string path = records_of(quick ? 10'000 : 10'000'000);
            const Measurement measured = in_turn(
                quick ? 1 : job_turns, [&] { return terasort(path, memory); },
                [&] { return baseline(path); });
            expect_sorted(path);
            return measured;
          }};
}

// Ten times the memory, which does not stay in the page cache either; once, since it takes minutes.
Measurement sort_much(bool quick) {
  const std::uint64_t records = quick ? 1'000'000 : 100'000'000;
  const double wanted = 4.5e2 * static_cast<double>(records);
  if (static_cast<double>(fs::space(job_folder()).available) < wanted)
    throw Skipped(fmt::format("{:.0f} GB of disk are not free in {}", wanted / 1e9, job_folder()));
  const std::string path = records_of(records);
  run_command("sync");
  Measurement measured;
  measured.ours = terasort(path, quick ? "100MiB" : "1GiB");
  expect_sorted(path);
  fs::remove_all(sorted_folder());
  run_command("sync");
  measured.baseline = copy_twice(path);
  if (!quick) fs::remove_all(path);
  return measured;
}

Benchmark sort_with_keys(const std::string& keys) {
  return {"jobs/terasort_" + keys + "_keys", "s", "uniform keys", at_most(1.3), [keys](bool quick) {
            const std::uint64_t records = quick ? 10'000 : 10'000'000;
            const std::string path = records_of(records, keys), uniform = records_of(records);
            const Measurement measured = in_turn(
                quick ? 1 : job_turns, [&] { return terasort(path, "4GB"); },
                [&] { return terasort(uniform, "4GB"); });
            terasort(path, "4GB");
            expect_sorted(path);
            return measured;
          }};
}

Benchmark largest_partition(const std::string& keys) {
  return {"jobs/largest_partition_" + keys + "_keys", "MB", "the mean of all", at_most(1.2),
          [keys](bool quick) {
            terasort(records_of(quick ? 1'000'000 : 10'000'000, keys), "4GB --partition_bytes 32MB");
            std::vector<double> sizes;
            for (const auto& entry : fs::directory_iterator(sorted_folder()))
              if (entry.path().extension() == ".bin")
                sizes.push_back(static_cast<double>(entry.file_size()) / 1e6);
            return Measurement{
                std::ranges::max(sizes),
                std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(sizes.size())};
          }};
}

}  // namespace

std::vector<Benchmark> sort_job_benchmarks() {
  return {
      sort_against("in_memory", "4GB", "key sort and gather on two threads", plain_sort),
      sort_against("with_a_tenth_of_memory", "100MiB", "cp of the input twice", copy_twice),
      {"jobs/terasort_10_GB_in_1_GiB", "s", "cp of the input twice", at_most(1.5), sort_much},
      sort_with_keys("skewed"),
      sort_with_keys("equal"),
      largest_partition("skewed"),
      largest_partition("equal"),
  };
}

}  // namespace actorflow::bench
