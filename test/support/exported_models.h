// Models that are exported, as graphs that a test has the values for.
#pragma once

#include "actors/export/onnx_export.h"
#include "actors/models/text/transformer.h"

namespace actorflow::test {

// A small one of five characters: int64 "text" [?, 4] to "logits".
inline Signature transformer_in(Graph& graph) {
  const Output text = graph.placeholder(DType::int64, {Shape::unknown, 4}, "text");
  ModelVariables variables;
  ModelPass pass{.graph = graph, .variables = variables, .seed = 3};
  const Architecture architecture =
      character_transformer(5, {.context = 4, .layers = 2, .heads = 2, .width = 8});
  return {{{"text", text}}, {{"logits", architecture.build(pass, {text})[0]}}};
}
inline Tensor text_of_transformer() {
  return Tensor::of<std::int64_t>({2, 4}, {0, 1, 2, 3, 4, 3, 1, 0});
}

}  // namespace actorflow::test
