#include "apps/cli/train_flag_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace actorflow {
namespace {

using Table = FlagTable<TrainFlags>;

void add_model(Table& table) {
  table
      .value("model", &TrainFlags::model,
             fmt::format("What to train: {}; without it as suits the data: the project's own have their "
                         "model, others mlp",
                         fmt::join(model_names(), ", ")),
             one_of(model_names()))
      .repeated("set", &TrainFlags::settings, "What is the model's own, as key=value; any number")
      .value("hidden,hidden_units", &TrainFlags::hidden,
             "Of the model mlp, as --set hidden=...: sizes of the hidden layers, for example 512,128",
             in_range(1, 1 << 16));
}

void add_training(Table& table) {
  table.value("optimizer", &TrainFlags::optimizer, optimizer_names() + "; without it the model's own")
      .value("learning-rate", &TrainFlags::learning_rate,
             "Learning rate; without it one that suits the optimizer", positive_number())
      .value("batch-size", &TrainFlags::batch_size,
             "Examples in one worker's step; without it as suits the model", in_range(1, 1 << 20))
      .value("epochs", &TrainFlags::epochs, "Passes over the data; without it as many as suit the model",
             positive_number())
      .value("train-steps", &TrainFlags::train_steps, "Global steps, in place of --epochs",
             positive_number())
      .value("seed", &TrainFlags::seed,
             "Decides the initial weights and the order of the examples; without it 1")
      .value(
          "data,data_dir", &TrainFlags::data,
          "Folder with files as MNIST or CIFAR-10 (binary version) has, plain or .gz, or a table *.csv "
          "with a heading, whose last column is the class; mnist (the default), digits and iris are the "
          "project's own, "
          "./digits is yours");
}

void add_arithmetic(Table& table) {
  table
      .value(
          "precision", &TrainFlags::precision,
          "To what factors of products may be rounded where that is faster: float32 (not at all), tf32 "
          "(on GPUs) or bf16 (on GPUs, and on CPUs with AMX or AMD's AVX-512 for it); without it as "
          "suits the model",
          one_of({"float32", "tf32", "bf16"}))
      .value(
          "device", &TrainFlags::device,
          "The device of each task that computes, such as gpu:0; without it, or where a task lacks it, "
          "a CPU")
      .value(
          "not-finite", &TrainFlags::not_finite,
          "What a loss or gradient that is NaN or infinite does: fail, skip (the gradient is left out), "
          "or roll_back (to the newest checkpoint, at most 3 times); without it fail",
          one_of({"fail", "skip", "roll_back"}));
}

void add_strategy(Table& table) {
  table
      .value("strategy", &TrainFlags::distribution,
             "Where the variables are: parameter_server (in tasks of their own), multi_worker (on each "
             "worker, by all-reduce), mirrored (the same in one process), one_device (a single worker); "
             "without it as the cluster has tasks 'ps' or not",
             one_of({"parameter_server", "multi_worker", "mirrored", "one_device"}))
      .present("sync_replicas,sync", &TrainFlags::sync,
               "Synchronous: average the workers' gradients for each step")
      .present("async", &TrainFlags::async, "Asynchronous: apply each worker's gradients as they come")
      .value(
          "replicas-to-aggregate", &TrainFlags::replicas_to_aggregate,
          "Synchronous: gradients of a step, in place of one of each worker. With fewer the slowest are "
          "dropped",
          positive_number())
      .value("staleness-bound", &TrainFlags::staleness_bound,
             "Asynchronous: steps that a worker may be ahead of the slowest one; without it no bound",
             nonnegative_number());
}

void add_all_reduce(Table& table) {
  table
      .present("sharded-optimizer", &TrainFlags::sharded_optimizer,
               "With multi_worker or mirrored: divide what the optimizer keeps among the workers (ZeRO "
               "stage 1); after the loss of a worker all go on from the newest checkpoint")
      .value("compression", &TrainFlags::compression,
             "With multi_worker or mirrored: how gradients travel: none (as they are) or bfloat16 "
             "(rounded, half the bytes)",
             one_of({"none", "bfloat16"}))
      .value(
          "local-steps", &TrainFlags::local_steps,
          "With multi_worker or mirrored: steps that each worker makes by its own gradients before all "
          "agree (local SGD, DiLoCo); 1 = the mean gradient is applied in each step",
          in_range(1, 1'000'000))
      .value("outer-learning-rate", &TrainFlags::outer_learning_rate,
             "With --local_steps: the rate by which the workers' mean change is applied; without it 0.7",
             positive_number())
      .value("outer-momentum", &TrainFlags::outer_momentum,
             "With --local_steps: the Nesterov momentum of these changes; without it 0.9",
             in_range(0.0, 0.9999));
}

void add_parameter_servers(Table& table) {
  table
      .value("ps-strategy", &TrainFlags::ps_strategy,
             "How variables go to the parameter servers: round_robin (by turns) or greedy (by bytes); "
             "without it round_robin")
      .value("connect-timeout", &TrainFlags::connect_timeout_s,
             "Seconds to wait for a task that cannot be reached", positive_number());
}

void add_files(Table& table) {
  table
      .value("checkpoint-dir", &TrainFlags::checkpoint_folder,
             "Folder to restore the newest checkpoint from and to save to")
      .present(
          "strict", &TrainFlags::strict,
          "Fail where the newest checkpoint is damaged, in place of falling back to the newest whole "
          "one")
      .value("save-checkpoint-secs", &TrainFlags::save_checkpoint_secs,
             "Seconds between checkpoints; 0 = none but the last", nonnegative_number())
      .value("save-checkpoint-steps", &TrainFlags::save_checkpoint_steps,
             "Steps between checkpoints, in place of seconds", nonnegative_number())
      .value("summary-dir", &TrainFlags::summary_folder,
             "Folder for TensorBoard's event files, which the chief writes; an evaluator's are in eval/")
      .value("save-summaries-steps", &TrainFlags::save_summaries_steps, "Steps between summaries",
             positive_number())
      .value("report", &TrainFlags::report, "File for a report in JSON; - for standard output")
      .value("plots,plots_dir", &TrainFlags::plots,
             "Folder for pictures (SVG) of the run: learning curves, what was taken for what, and "
             "mistakes");
}

}  // namespace

const FlagTable<TrainFlags>& train_flag_table() {
  static const Table table = [] {
    Table rows;
    for (const auto add : {add_model, add_training, add_arithmetic, add_strategy, add_all_reduce,
                           add_parameter_servers, add_files})
      add(rows);
    return rows;
  }();
  return table;
}

}  // namespace actorflow
