#include "actors/models/fit/fit_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/models/data/batches.h"
#include "actors/models/data/class_weight.h"
#include "actors/models/network/clipping.h"
#include "actors/models/network/graph_hash.h"
#include "actors/strategies/meeting.h"

namespace actorflow {
namespace {

std::string describe_variables(const ModelGraph& nodes) {
  std::vector<std::string> all;
  for (const auto& entry : nodes.variables.entries)
    all.push_back(fmt::format("{} {}{}", entry.name, entry.variable.type().to_string(),
                              entry.trained ? "" : " not trained"));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string hashes_of(const std::vector<Output>& outputs, const std::vector<Output>& leaves = {}) {
  std::string text;
  for (const Output& output : outputs)
    text += fmt::format("{}#{:016x}", text.empty() ? "" : " ", graph_hash(output, leaves));
  return text;
}

std::string describe_loss(const ModelGraph& nodes, const CompileOptions& compile) {
  std::vector<std::string> losses;
  for (std::size_t i = 0; i < compile.loss.list().size(); ++i)
    losses.push_back(
        (compile.loss_weights.empty() ? "" : fmt::format("{} * ", compile.loss_weights[i])) +
        compile.loss.list()[i].name);
  return fmt::format("{} {}", fmt::join(losses, " + "), hashes_of({nodes.test.loss}, nodes.predictions));
}

std::string describe_metrics(const ModelGraph& nodes, const CompileOptions& compile) {
  std::vector<std::string> metrics;
  for (std::size_t i = 0; i < compile.metrics.size(); ++i)
    metrics.push_back(fmt::format("{} {}", compile.metrics[i].name,
                                  hashes_of({nodes.test.metrics[i]}, nodes.predictions)));
  return metrics.empty() ? "none" : fmt::format("{}", fmt::join(metrics, ", "));
}

}  // namespace

ReplicaSettings settings_of_model(const ModelGraph& nodes, const CompileOptions& compile) {
  return {{"variables", describe_variables(nodes)},
          {"layers", hashes_of(nodes.predictions)},
          {"loss and penalties", describe_loss(nodes, compile)},
          {"metrics", describe_metrics(nodes, compile)},
          {"optimizer", describe_optimizers(compile.optimizer, nodes.variables.trained())},
          {"learning rate schedule", compile.learning_rate ? hashes_of({nodes.rate}) : "none"}};
}

ReplicaSettings settings_of_program(const FitOptions& options, const Architecture& architecture,
                                    const CompileOptions& compile) {
  const auto& frozen = architecture.frozen;
  return {{"frozen layers", frozen.empty() ? "none" : fmt::format("{}", fmt::join(frozen, ", "))},
          {"clipping", describe_clipping(compile)},
          {"precision", std::string(to_string(compile.precision))},
          {"seed", std::to_string(compile.seed)},
          {"epochs", std::to_string(options.epochs)},
          {"batch_size", std::to_string(options.batch_size)},
          {"shuffle", options.shuffle ? "true" : "false"},
          {"class_weight", describe(options.class_weight)}};
}

ReplicaSettings settings_of_server(const FitOptions& options, const Architecture& architecture,
                                   const CompileOptions& compile, const ReplicaOptions& replica) {
  ReplicaSettings settings = settings_of_program(options, architecture, compile);
  if (const auto& optimizer = compile.optimizer.of_all())
    settings.emplace_back("optimizer", describe_optimizer(*optimizer));
  if (options.steps_per_epoch > 0 && options.auto_shard_policy == AutoShardPolicy::data)
    settings.emplace_back("steps of an epoch", std::to_string(options.steps_per_epoch));
  for (auto& setting : settings_of(replica))
    if (setting.first != "train_steps") settings.push_back(std::move(setting));  // follow from the data
  return settings;
}

std::string describe_examples(const TrainingData& data, std::shared_ptr<Runtime> runtime) {
  if (data.size().value_or(0) == 0) return "unknown";
  std::map<std::string, Tensor> tensors;
  for (const std::int64_t example : {std::int64_t{0}, *data.size() - 1}) {
    DatasetIterator iterator(data.elements().skip(example).take(1), runtime);
    const Tuple components = iterator.next();
    for (std::size_t i = 0; i < components.size(); ++i)
      tensors[fmt::format("{} {}", example, i)] = components[i];
  }
  return fmt::format("#{:016x}", hash_of(tensors));
}

}  // namespace actorflow
