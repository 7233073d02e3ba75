#include "apps/training/export_classifier.h"

#include <fmt/format.h>

#include <cmath>

#include "actors/checkpoint/checkpoint.h"
#include "actors/export/onnx_export.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

// A model as the shapes of its saved weights tell it.
struct Found {
  ModelChoice choice;
  Shape example;
  std::int64_t classes = 0;
};

class SavedShapes {
 public:
  SavedShapes(const Checkpoint& checkpoint, std::string where, const std::string& model)
      : tensors_(checkpoint.tensors), where_(std::move(where)), found_{{model, {}}, {}, 0} {}

  Found find() {
    if (found_.choice.name == "mlp") find_mlp();
    if (found_.choice.name == "lenet") find_lenet();
    if (found_.choice.name == "resnet20") find_resnet20();
    return std::move(found_);
  }

 private:
  Shape shape_of(const std::string& variable, int rank) const {
    const auto saved = tensors_.find(variable);
    if (saved == tensors_.end() || saved->second.shape().rank() != rank)
      throw invalid_argument(fmt::format(
          "the checkpoint in {} is not of the model {}: it has no '{}' of {} dimensions; --model says "
          "what it is of",
          where_, found_.choice.name, variable, rank));
    return saved->second.shape();
  }

  void find_mlp() {
    auto& hidden = found_.choice.hidden;
    const auto weights = [&] { return fmt::format("hidden{}/weights", hidden.size() + 1); };
    while (tensors_.contains(weights())) hidden.push_back(shape_of(weights(), 2)[1]);
    const Shape logits = shape_of("logits/weights", 2);
    found_.example = {hidden.empty() ? logits[0] : shape_of("hidden1/weights", 2)[0]};
    found_.classes = logits[1];
  }

  void find_lenet() {
    const Shape filters = shape_of("conv2d/weights", 4), last = shape_of("conv2d_1/weights", 4);
    const std::int64_t pixels = shape_of("dense/weights", 2)[0] / last[3];
    const std::int64_t side = 4 * std::llround(std::sqrt(static_cast<double>(pixels)));
    found_.example = {side, side, filters[2]};
    found_.classes = shape_of("dense_1/weights", 2)[1];
  }

  void find_resnet20() {
    found_.example = {32, 32, shape_of("conv2d/weights", 4)[2]};
    found_.classes = shape_of("dense/weights", 2)[1];
  }

  const std::map<std::string, Tensor>& tensors_;
  std::string where_;
  Found found_;
};

}  // namespace

ExportedClassifier export_classifier(Storage& storage, const std::string& checkpoint_folder,
                                     const std::string& model, const std::string& output) {
  const auto checkpoint = load_latest_checkpoint(storage, checkpoint_folder);
  if (!checkpoint)
    throw Error(Code::not_found, fmt::format("there is no checkpoint in {}", checkpoint_folder));
  const Found found = SavedShapes(*checkpoint, checkpoint_folder, model).find();
  Graph graph;
  const Classifier classifier =
      make_classifier(graph, architecture_of(found.choice, found.example, found.classes), found.example,
                      {.training = false});
  const Output logits = classifier.test.logits;
  const Signature signature{
      {{"images", classifier.x}},
      {{"logits", logits}, {"probabilities", softmax(logits)}, {"class", argmax(logits, 1)}}};
  export_onnx(storage, output, {{serving_default, signature}}, checkpoint->tensors);
  return {checkpoint->global_step, found.choice};
}

}  // namespace actorflow
