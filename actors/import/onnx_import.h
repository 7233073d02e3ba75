// Import of ONNX models, our own exports and others', as nodes of a graph.
//
//   Graph g;
//   const Signature model = import_onnx(posix_storage(), "export/model.onnx", g);
//   Session session(g);
//   Tensor classes = session.run(model.outputs.at("class"), {{model.inputs.at("examples"), images}});
#pragma once

#include <map>
#include <string>

#include "actors/export/onnx_export.h"
#include "actors/runtime/storage.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// Adds what the model of the file computes. Its inputs are the tensors of `inputs`, and placeholders for
// those that are not among them; its weights are constants of the graph. A file of weights is read from
// the model's folder. Images stay [batch, channels, height, width], as in the model. Nodes take the
// device in scope.
//
// Operator sets 13 to 21, of which the inference of perceptrons, convolutional nets and transformers is
// there (README.md of this folder has the list). Throws unimplemented with all nodes that are not;
// invalid_argument for an input that the model does not have or whose type is another; data_loss for a
// damaged file; and what Storage throws.
Signature import_onnx(Storage& storage, const std::string& file, Graph& graph,
                      const std::map<std::string, Output>& inputs = {});

}  // namespace actorflow
