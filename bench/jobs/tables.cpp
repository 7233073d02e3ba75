// Jobs over tables, against DuckDB with as many threads and as much memory, which also judges what they
// make: many groups, and queries 1 and 3 of TPC-H.
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bench/harness.h"
#include "bench/jobs/job_files.h"
#include "bench/jobs/job_peers.h"
#include "bench/program.h"

namespace actorflow::bench {
namespace {

namespace fs = std::filesystem;

constexpr double limit_mib = 512;

// Scrambles the numbers below 2^27 in a way that can be undone.
std::uint64_t scrambled(std::uint64_t x) {
  constexpr std::uint64_t mask = (1U << 27U) - 1;
  x = (x * 0x5851f42d + 12345) & mask;
  x ^= x >> 13U;
  x = (x * 0x9e3779b1) & mask;
  return x ^ x >> 11U;
}

// A line for each key, in no order; a quarter of the keys comes twice. REQUIRES: keys < 2^27.
std::string keys_of(std::uint64_t keys) {
  const std::string path = fmt::format("{}/keys{}.csv", job_folder(), keys);
  if (fs::exists(path)) return path;
  std::ofstream file(path, std::ios::binary);
  for (std::uint64_t i = 0; i < keys / 4 * 5; ++i) {
    std::uint64_t key = scrambled(i % keys);
    while (key >= keys) key = scrambled(key);
    char line[24];
    char* const end = std::to_chars(line, line + sizeof line, key * 1'000'003 + 7).ptr;
    *end = '\n';
    file.write(line, end + 1 - line);
  }
  return path;
}

std::string count_keys(std::uint64_t keys) {
  return fmt::format("count_keys --input {} --output {}/key_counts --memory {}MiB --spill_folder {}",
                     keys_of(keys), job_folder(), limit_mib, job_folder());
}

Measurement many_groups(bool quick) {
  const std::uint64_t keys = quick ? 10'000 : 100'000'000;
  const std::string expected = job_folder() + "/peer/keys.csv", input = keys_of(keys);
  const Measurement measured = in_turn(
      1, [&] { return seconds_of_program("bench_jobs", count_keys(keys)); },
      [&] {
        return seconds_of_peer(
            "duckdb", "count_keys",
            fmt::format("input={} output={} memory={}MiB", input, expected, limit_mib));
      });
  expect_judged("duckdb", "count_keys",
                fmt::format("output={}/key_counts expected={}", job_folder(), expected));
  return measured;
}

// A look at the process ten times a second; its last one is of the most that it has held.
Measurement memory_of_many_groups(bool quick) {
  const std::string kib = output_of(
      fmt::format("{} {} --tasks {} --quiet --overwrite >/dev/null & "
                  "while now=$(grep VmHWM /proc/$!/status 2>/dev/null); do most=$now; sleep 0.1; done; "
                  "wait $! && echo $most | tr -dc 0-9",
                  path_of_program("bench_jobs"), count_keys(quick ? 10'000 : 100'000'000), job_threads));
  return {std::stod(kib) / 1024, limit_mib + 64};
}

// The tables of TPC-H of that scale, by the program that PyPI's tpchgen-cli brings: a folder.
std::string tables_of(double scale) {
  const std::string path = fmt::format("{}/tpch{}", job_folder(), scale);
  if (fs::exists(path)) return path;
  const char* python = std::getenv("ACTORFLOW_PYTHON");
  const fs::path program = fs::path(python ? python : "").parent_path() / "tpchgen-cli";
  if (!fs::exists(program)) throw Skipped("no tpchgen-cli beside $ACTORFLOW_PYTHON");
  run_command(fmt::format("{} csv -s {} --output-dir {} --tables lineitem,orders,customer 2>&1",
                          program.string(), scale, path));
  return path;
}

Benchmark query(const std::string& name, const std::vector<std::string>& tables, double bar) {
  return {"jobs/tpch_" + name, "s", "duckdb", at_most(bar), [name, tables](bool quick) {
            const std::string folder = tables_of(quick ? 0.01 : 1);
            const std::string output = job_folder() + "/" + name,
                              expected = job_folder() + "/peer/" + name;
            std::string arguments = fmt::format("{} --output {}", name, output);
            for (const auto& table : tables)
              arguments += fmt::format(" --{0} {1}/{0}.csv", table, folder);
            const Measurement measured = in_turn(
                quick ? 1 : job_turns, [&] { return seconds_of_program("sql", arguments); },
                [&] {
                  return seconds_of_peer("duckdb", name,
                                         fmt::format("tables={} output={}", folder, expected));
                });
            expect_judged("duckdb", name, fmt::format("output={} expected={}", output, expected));
            return measured;
          }};
}

}  // namespace

std::vector<Benchmark> table_job_benchmarks() {
  return {
      {"jobs/100M_groups_in_512_MiB", "s", "duckdb with that limit", at_most(1.5), many_groups},
      {"jobs/100M_groups_resident_memory", "MiB", "the limit and 64 MiB", at_most(1),
       memory_of_many_groups},
      query("q1", {"lineitem"}, 2),
      query("q3", {"lineitem", "orders", "customer"}, 3),
  };
}

}  // namespace actorflow::bench
