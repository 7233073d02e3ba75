// The flags of both `actorflow train mnist` and `trainer`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/training/train_replica.h"

namespace actorflow {

struct TrainFlags {
  std::vector<std::int64_t> hidden{256};
  std::string optimizer = "adam";
  double learning_rate = 0;  // 0 = the optimizer's own
  std::int64_t batch_size = 64;
  double epochs = 5;
  std::int64_t train_steps = 0;  // 0 = as many as `epochs` take
  std::uint64_t seed = 1;
  std::string ps_strategy = "round_robin";
  std::string data{};
  std::string checkpoint_folder{};
  bool strict = false;
  double save_checkpoint_secs = 600;
  std::int64_t save_checkpoint_steps = 0;
  std::string summary_folder{};
  std::int64_t save_summaries_steps = 100;
  std::string report{};
  double connect_timeout_s = 60;
  int replicas_to_aggregate = 0;
  int staleness_bound = -1;  // none
  std::string precision = "float32";
  std::string not_finite = "fail";

  void add_to(CLI::App& app);
  // The arguments that reproduce these flags.
  std::vector<std::string> arguments() const;
  // Throws UsageError.
  TrainOptions options(bool sync) const;
  // Loads the data, and sets the number of steps in `options` that the flags mean for it.
  Mnist load(TrainOptions& options, int workers) const;

  bool operator==(const TrainFlags&) const = default;
};

// Throws UsageError if a task cannot save into the folder of `options`: it is a file or cannot be
// written.
void check_checkpoint_folder(const TrainOptions& options);

// Prints the result of training on standard output, and writes the report that the flags ask for.
void publish(const TrainReport& report, const TrainFlags& flags);

}  // namespace actorflow
