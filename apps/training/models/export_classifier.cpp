#include "apps/training/models/export_classifier.h"

#include <fmt/format.h>

#include "actors/checkpoint/checkpoint.h"
#include "actors/export/onnx_export.h"
#include "apps/training/models/model_file.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {

ExportedClassifier export_classifier(Storage& storage, const std::string& checkpoint_folder,
                                     const std::string& output) {
  const auto checkpoint = load_latest_checkpoint(storage, checkpoint_folder);
  if (!checkpoint)
    throw Error(Code::not_found, fmt::format("there is no checkpoint in {}", checkpoint_folder));
  const TrainedModel model = read_model_file(storage, checkpoint_folder);
  Graph graph;
  const Classifier classifier =
      make_classifier(graph, architecture_of(model.choice, model.data), model.data.example,
                      {.training = false, .label = model.data.label});
  const Output logits = classifier.test.logits;
  const Signature signature{
      {{"examples", classifier.x}},
      {{"logits", logits}, {"probabilities", softmax(logits)}, {"class", argmax(logits, -1)}}};
  export_onnx(storage, output, {{serving_default, signature}}, checkpoint->tensors);
  return {checkpoint->global_step, model.choice};
}

}  // namespace actorflow
