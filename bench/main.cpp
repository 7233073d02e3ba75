// Runs the benchmarks and prints one table: what, ours, baseline, ratio, bar.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/program.h"
#include "bench/gpu/gpu.h"
#include "bench/harness.h"
#include "bench/network/peer.h"
#include "bench/network/raw_socket.h"
#include "bench/recovery/elastic_task.h"
#include "bench/recovery/recovery_task.h"

namespace {

using namespace actorflow;
using namespace actorflow::bench;

std::vector<Benchmark> all_benchmarks() {
  std::vector<Benchmark> all;
  for (const auto list : {executor_benchmarks,
                          parallel_step_benchmarks,
                          transport_benchmarks,
                          training_benchmarks,
                          parameter_server_benchmarks,
                          collective_benchmarks,
                          data_parallel_benchmarks,
                          kernel_benchmarks,
                          matmul_benchmarks,
                          conv_model_benchmarks,
                          model_benchmarks,
                          embedding_benchmarks,
                          eager_benchmarks,
                          simulation_benchmarks,
                          shuffle_benchmarks,
                          jobs_benchmarks,
                          job_cluster_benchmarks,
                          gpu_benchmarks,
                          recovery_benchmarks,
                          elastic_benchmarks,
                          sort_job_benchmarks,
                          table_job_benchmarks,
                          round_job_benchmarks,
                          launch_benchmarks})
    for (auto& benchmark : list()) all.push_back(std::move(benchmark));
  return all;
}

nlohmann::json to_json(const Benchmark& benchmark, const Measurement& measured) {
  return {{"name", benchmark.name},        {"unit", benchmark.unit},
          {"ours", measured.ours},         {"baseline", measured.baseline},
          {"ratio", measured.ratio()},     {"bar", benchmark.bar.to_string()},
          {"against", benchmark.baseline}, {"holds", benchmark.bar.holds(measured.ratio())},
          {"note", measured.note}};
}

void print(const Benchmark& benchmark, const Measurement& m, bool quick) {
  fmt::print("{:<46} {:>11.4g} {:>11.4g}  {:<9} {:>7.3f}  {:<8} {}{}{}\n", benchmark.name, m.ours,
             m.baseline, benchmark.unit, m.ratio(), benchmark.bar.to_string(), benchmark.baseline,
             m.note.empty() ? "" : "; " + m.note,
             quick || benchmark.bar.holds(m.ratio()) ? "" : "   BELOW THE BAR");
  std::cout.flush();
}

// Whether a benchmark's name contains one of these parts; of none, every one is wanted.
bool is_wanted(const std::string& name, const std::vector<std::string>& parts) {
  return parts.empty() || std::ranges::any_of(parts, [&](const std::string& part) {
           return name.find(part) != std::string::npos;
         });
}

// The exit status.
int run(const std::vector<std::string>& only, bool quick, const std::string& json_file) {
  fmt::print("{:<46} {:>11} {:>11}  {:<9} {:>7}  {:<8} {}\n", "benchmark", "ours", "baseline", "unit",
             "ratio", "bar", "against");
  nlohmann::json results = nlohmann::json::array();
  for (const auto& benchmark : all_benchmarks()) {
    if (!is_wanted(benchmark.name, only)) continue;
    try {
      const Measurement measured = benchmark.measure(quick);
      print(benchmark, measured, quick);
      results.push_back(to_json(benchmark, measured));
    } catch (const Skipped& skipped) {
      fmt::print("{:<46} skipped: {}\n", benchmark.name, skipped.what());
      results.push_back({{"name", benchmark.name}, {"skipped", skipped.what()}});
    }
  }
  if (results.empty()) {
    fmt::print(stderr, "no benchmark's name contains '{}'\n", fmt::join(only, "' or '"));
    return 2;
  }
  if (json_file.empty() || std::ofstream(json_file) << results.dump(2) << std::endl) return 0;
  fmt::print(stderr, "cannot write {}\n", json_file);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("Benchmarks of Actorflow: each figure beside a baseline of the same run",
                      "actorflow_bench");
  std::vector<std::string> only;
  std::string json_file, peer_of, gpu_trace, gpu_model = "resnet20";
  PeerOptions peer;
  std::string recovery_task;
  RecoveryOptions recovery;
  bool recovery_elastic = false;
  std::uint16_t connect_to = 0;
  bool quick = false;
  program.option("--json", json_file, "Write the results there, as a list of objects");
  program.option("--only", only, "Run the benchmarks whose name contains this; may be repeated")
      .one_at_a_time();
  program.flag("--quick", quick, "Small sizes: shows that they run, not how fast");
  program.option("--gpu_trace", gpu_trace, "Only write the trace of a training step on a GPU there");
  program.option("--gpu_model", gpu_model, "The model of --gpu_trace")
      .check(one_of({"resnet20", "transformer"}));
  program.option("--peer", peer_of).hide();  // these three not for people: see network/peer.h
  program.option("--peer_spin_us", peer.spin_us).hide();
  program.option("--peer_credentials", peer.credentials).hide();
  program.option("--recovery_task", recovery_task).hide();  // nor these: see recovery/recovery_task.h
  program.option("--recovery_checkpoints", recovery.checkpoints).hide();
  program.option("--recovery_heartbeat_ms", recovery.heartbeat_timeout_ms).hide();
  program.flag("--recovery_sync", recovery.sync).hide();
  program.flag("--recovery_insecure", recovery.insecure).hide();
  program.flag("--recovery_elastic", recovery_elastic).hide();  // see recovery/elastic_task.h
  program.option("--recovery_connect", connect_to).hide();
  return run_program(program, argc, argv, [&]() -> int {
    if (!peer_of.empty()) run_peer(peer_of, peer);
    if (!recovery_task.empty()) return run_recovery_task(recovery_task, recovery);
    if (recovery_elastic) return run_elastic_recovery_task();
    if (connect_to != 0) return RawStream::connect(connect_to), 0;
    if (!gpu_trace.empty()) return write_gpu_trace(gpu_trace, gpu_model), 0;
    return run(only, quick, json_file);
  });
}
