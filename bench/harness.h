// Benchmarks: a figure of ours beside a baseline of the same run.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace actorflow::bench {

// Thrown by a benchmark whose baseline this machine does not have; says what is missing.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Two figures in the benchmark's unit, measured in turn so that a machine that gets slower slows both.
struct Measurement {
  double ours = 0;
  double baseline = 0;
  std::string note = {};  // that follows in the table, such as the same figures in another unit

  double ratio() const { return ours / baseline; }
};

// A bound on the ratio ours / baseline.
struct Bar {
  enum class Side { at_least, at_most } side = Side::at_least;
  double ratio = 1;

  bool holds(double measured) const {
    return side == Side::at_least ? measured >= ratio : measured <= ratio;
  }
  std::string to_string() const;  // ">= 0.15"
};
inline Bar at_least(double ratio) { return {Bar::Side::at_least, ratio}; }
inline Bar at_most(double ratio) { return {Bar::Side::at_most, ratio}; }

struct Benchmark {
  std::string name;
  std::string unit;
  std::string baseline;  // against what
  Bar bar;
  // `quick`: sizes that only show that it still works.
  std::function<Measurement(bool quick)> measure;
};

// One list per file.
std::vector<Benchmark> executor_benchmarks();
std::vector<Benchmark> parallel_step_benchmarks();
std::vector<Benchmark> transport_benchmarks();
std::vector<Benchmark> training_benchmarks();
std::vector<Benchmark> parameter_server_benchmarks();
std::vector<Benchmark> collective_benchmarks();
std::vector<Benchmark> data_parallel_benchmarks();
std::vector<Benchmark> launch_benchmarks();
std::vector<Benchmark> conv_model_benchmarks();
std::vector<Benchmark> model_benchmarks();
std::vector<Benchmark> kernel_benchmarks();
std::vector<Benchmark> matmul_benchmarks();
std::vector<Benchmark> embedding_benchmarks();
std::vector<Benchmark> eager_benchmarks();
std::vector<Benchmark> simulation_benchmarks();
std::vector<Benchmark> shuffle_benchmarks();
std::vector<Benchmark> jobs_benchmarks();
std::vector<Benchmark> sort_job_benchmarks();
std::vector<Benchmark> table_job_benchmarks();
std::vector<Benchmark> round_job_benchmarks();
std::vector<Benchmark> job_cluster_benchmarks();
std::vector<Benchmark> gpu_benchmarks();
std::vector<Benchmark> recovery_benchmarks();
std::vector<Benchmark> elastic_benchmarks();

// Seconds that one call takes.
template <class Body>
double seconds_of(Body&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Medians of `rounds` turns of both, after one uncounted turn of each; a single turn is the first one, and
// shows only that both run.
Measurement in_turn(int rounds, const std::function<double()>& ours,
                    const std::function<double()>& baseline);
double median(std::vector<double> values);
// The value below which a fraction `q` of the values lies.
double quantile(std::vector<double> values, double q);

}  // namespace actorflow::bench
