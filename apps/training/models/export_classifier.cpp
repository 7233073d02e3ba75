#include "apps/training/models/export_classifier.h"

#include "actors/export/onnx_export.h"
#include "apps/training/models/trained_model.h"
#include "kernels/ops.h"

namespace actorflow {

ExportedClassifier export_classifier(Storage& storage, const std::string& checkpoint_folder,
                                     const std::string& output) {
  const auto [model, checkpoint] = load_saved_model(storage, checkpoint_folder);
  Graph graph;
  const Classifier classifier =
      make_classifier(graph, architecture_of(model.choice, model.data), model.data.example,
                      {.training = false, .label = model.data.label});
  const Output logits = classifier.test.logits;
  const Signature signature{
      {{"examples", classifier.x}},
      {{"logits", logits}, {"probabilities", softmax(logits)}, {"class", argmax(logits, -1)}}};
  export_onnx(storage, output, {{serving_default, signature}}, checkpoint.tensors);
  return {checkpoint.global_step, model.choice};
}

}  // namespace actorflow
