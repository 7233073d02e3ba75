// The flags that `actorflow train`, `trainer` and scenario files share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/training/data/labelled_data.h"
#include "apps/training/models/model_choice.h"
#include "apps/training/train_replica.h"
#include "schema/command_line/command_line.h"

namespace actorflow {

// A flag is a member here and a row of train_flag_table.cpp. Of what the tasks of a job compare none
// means that the flag was omitted: a task that was told the default contradicts one with another value.
struct TrainFlags {
  std::optional<std::string> model = std::nullopt;
  std::vector<std::string> settings{};
  std::vector<std::int64_t> hidden{};
  std::optional<std::string> optimizer = std::nullopt;
  std::optional<double> learning_rate = std::nullopt;
  std::optional<std::int64_t> batch_size = std::nullopt;
  std::optional<double> epochs = std::nullopt;
  std::optional<std::int64_t> train_steps = std::nullopt;
  std::optional<std::uint64_t> seed = std::nullopt;
  std::string data{};
  std::optional<std::string> precision = std::nullopt;
  std::string device{};
  std::optional<std::string> not_finite = std::nullopt;

  // Not flags: the values of --model, --batch-size and, without --train-steps, --epochs where these are
  // omitted. None: mlp, and the model's own.
  std::optional<std::string> default_model = std::nullopt;
  std::optional<std::int64_t> default_batch_size = std::nullopt;
  std::optional<double> default_epochs = std::nullopt;
  // Not a flag: whether training is synchronous where neither of the next two says so.
  bool sync_by_default = false;
  std::string distribution{};  // "": as the cluster is
  bool sync = false;
  bool async = false;
  std::optional<int> replicas_to_aggregate = std::nullopt;
  std::optional<int> staleness_bound = std::nullopt;
  bool sharded_optimizer = false;
  std::string compression = "none";
  int local_steps = 1;
  std::optional<double> outer_learning_rate{}, outer_momentum{};
  std::optional<std::string> ps_strategy = std::nullopt;
  double connect_timeout_s = 60;

  std::string checkpoint_folder{};
  bool strict = false;
  double save_checkpoint_secs = 600;
  std::int64_t save_checkpoint_steps = 0;
  std::string summary_folder{};
  std::int64_t save_summaries_steps = 100;
  std::string report{};
  std::string plots{};

  void add_to(Command& command);
  // The command line that gives these flags to `trainer`.
  std::vector<std::string> arguments() const;
  // Whether --strategy has no parameter servers.
  bool has_workers_only() const;
  // Throws UsageError that names the flags that contradict each other.
  Strategy strategy() const;
  // Lets the tasks of a cluster with these jobs hold the variables: parameter servers, or workers, which
  // train by all-reduce if each step takes a gradient of all of them. Throws UsageError if the strategy
  // wants others than there are.
  void place_variables(TrainOptions& options, const std::vector<std::string>& jobs) const;
  // Throws UsageError. What depends on the data is not set yet.
  TrainOptions options() const;
  // The data, and in `options` what the flags and the model's recipe mean for it.
  LabelledData load(TrainOptions& options, int workers) const;
  // For a task that only serves: of the settings that all tasks share, those that the flags say, with
  // the values of `options`, for which the data were loaded or not. Those of flags that were omitted are
  // missing: a parameter server needs none.
  ReplicaSettings given(const TrainOptions& options, bool loaded) const;

  bool operator==(const TrainFlags&) const = default;

 private:
  bool wants_sync() const;
  AllReduce all_reduce() const;
  ModelChoice choice() const;
  void follow_recipe(TrainOptions& options, const LabelledData& loaded, int workers) const;
};

}  // namespace actorflow
