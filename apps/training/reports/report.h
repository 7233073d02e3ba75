// Reports of training runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace actorflow {

// What was run: what a reader has to know to compare it with another run, or to repeat it.
struct RunDescription {
  std::string version;          // of the program
  std::string data;             // the path
  std::string model, settings;  // "mlp", "hidden=128"
  std::string strategy;         // as --strategy names it
  std::string precision;        // of products
  std::string optimizer, learning_rate;  // "adam", "0.001", as describe_learning_rate() says it
  std::string device;           // of each worker: "cpu", "gpu:0"
  std::int64_t workers = 0;
  std::int64_t batch_size = 0;  // examples of one worker's step
  std::int64_t train_steps = 0;
  double epochs = 0;  // passes over the data in these steps
  std::uint64_t seed = 0;
  std::vector<std::string> flags;  // those that differ from their default

  bool operator==(const RunDescription&) const = default;
};

struct TrainReport {
  RunDescription run{};
  double test_accuracy = 0;  // share of the labels to test on
  double test_loss = 0;      // their mean loss
  double loss = 0;           // mean of the chief's last 100 batches
  std::int64_t global_step = 0;
  double examples_per_second = 0;  // of all replicas together
  double train_seconds = 0;
  std::string mode;           // "sync" or "async"
  double staleness_mean = 0;  // global steps between reading the weights and applying the gradient
  double staleness_max = 0;
  std::int64_t max_lead = 0;  // with bounded staleness: steps that a replica was ahead of the slowest
  std::vector<std::int64_t> dropped_gradients;  // synchronous: of each replica, too late for their step
  // Asynchronous: the number of pairs of replica and variable in which an update was lost or applied
  // twice (gradient_counts.h).
  std::int64_t uneven_updates = 0;
  std::uint64_t weights_hash = 0;

  bool operator==(const TrainReport&) const = default;
};

// One JSON object, keys as the fields, first those of `run`; the hash as 16 hexadecimal digits.
std::string to_json(const TrainReport& report);
// The inverse. Throws data_loss that names the unexpected part.
TrainReport parse_report(const std::string& json);

// Throws invalid_argument, naming the file, if write_report() could not write there. Leaves a file that
// is there as it is, and none where there was none. Before a training, which would have been in vain.
void expect_report_at(const std::string& path);
// Writes a report's text to a file, or to standard output for "-". Throws disk_error, naming the file.
void write_report(const std::string& path, const std::string& text);

}  // namespace actorflow
