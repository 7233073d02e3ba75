#include "apps/training/export_mnist.h"

#include <fmt/format.h>

#include "actors/checkpoint/checkpoint.h"
#include "actors/export/onnx_export.h"
#include "actors/models/mlp.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

// The shape of a layer's weights, which a checkpoint of a perceptron has.
Shape weights_shape(const Checkpoint& checkpoint, const std::string& folder, const std::string& layer) {
  const auto found = checkpoint.tensors.find(layer + "/weights");
  if (found == checkpoint.tensors.end() || found->second.shape().rank() != 2)
    throw invalid_argument(fmt::format(
        "the checkpoint in {} is not of the model mnist: it has no matrix '{}/weights'", folder, layer));
  return found->second.shape();
}

}  // namespace

ExportedMnist export_mnist(Storage& storage, const std::string& checkpoint_folder,
                           const std::string& output) {
  const auto checkpoint = load_latest_checkpoint(storage, checkpoint_folder);
  if (!checkpoint)
    throw Error(Code::not_found, fmt::format("there is no checkpoint in {}", checkpoint_folder));
  ExportedMnist exported{checkpoint->global_step, {}};
  while (checkpoint->tensors.contains(fmt::format("hidden{}/weights", exported.hidden.size() + 1))) {
    const auto layer = fmt::format("hidden{}", exported.hidden.size() + 1);
    exported.hidden.push_back(weights_shape(*checkpoint, checkpoint_folder, layer)[1]);
  }
  const Shape logits = weights_shape(*checkpoint, checkpoint_folder, "logits");
  const Shape first =
      exported.hidden.empty() ? logits : weights_shape(*checkpoint, checkpoint_folder, "hidden1");
  Graph graph;
  const Mlp model = make_mlp(graph, first[0], exported.hidden, logits[1], 1);
  const Signature signature{{{"images", model.x}},
                            {{"logits", model.logits},
                             {"probabilities", softmax(model.logits)},
                             {"class", argmax(model.logits, 1)}}};
  export_onnx(storage, output, {{serving_default, signature}}, checkpoint->tensors);
  return exported;
}

}  // namespace actorflow
