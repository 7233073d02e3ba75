#include "apps/training/models/trained_model.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {

SavedModel load_saved_model(Storage& storage, const std::string& folder) {
  auto checkpoint = load_newest_whole_checkpoint(storage, folder);
  if (!checkpoint) throw Error(Code::not_found, fmt::format("there is no checkpoint in {}", folder));
  return {read_model_file(storage, folder), *std::move(checkpoint)};
}

LoadedModel load_trained_model(Storage& storage, const std::string& folder) {
  auto [what, checkpoint] = load_saved_model(storage, folder);
  Model model(architecture_of(what.choice, what.data));
  model.build({what.data.example});
  std::map<std::string, Tensor> weights;
  for (const auto& [name, initial] : model.weights()) {
    const auto saved = checkpoint.tensors.find(name);
    if (saved == checkpoint.tensors.end())
      throw Error(Code::data_loss,
                  fmt::format("the checkpoint of step {} in {} lacks '{}' of the model {}",
                              checkpoint.global_step, folder, name, describe(what.choice)));
    weights[name] = saved->second;
  }
  model.set_weights(weights);
  return {std::move(model), std::move(what), checkpoint.global_step};
}

}  // namespace actorflow
