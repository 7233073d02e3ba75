#include "actors/models/predicting.h"

#include <fmt/format.h>

#include "actors/input/rows.h"
#include "actors/models/data/batches.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Throws failed_precondition unless each output has a row for each example.
void expect_rows(const std::vector<Tensor>& outputs, std::int64_t examples) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].shape().rank() < 1 || outputs[i].shape()[0] != examples)
      throw Error(
          Code::failed_precondition,
          fmt::format("predict: output {} is {} for {} examples: expected a row for each; a layer "
                      "of the model mixes examples",
                      i, outputs[i].describe(), examples));
}

// The outputs for the first components of the elements, which are the inputs.
std::vector<Tensor> predict(ModelEngine& model, const Dataset& examples, std::int64_t batch_size,
                            std::int64_t rows_expected) {
  const std::size_t inputs = model.architecture.inputs.size();
  DatasetIterator batches(model.local->server, examples.batch(batch_size));
  RowStacker results(rows_expected);
  while (auto batch = next_of(batches)) {
    batch->resize(inputs);
    const std::int64_t examples_here = rows_of(*batch);
    const auto values = model.session().predict(std::move(*batch));
    expect_rows(values, examples_here);
    for (std::int64_t row = 0; row < rows_of(values); ++row) results.add_row(values, row);
  }
  return results.take();
}

void expect_example(const ModelEngine& model, const std::vector<TensorType>& example) {
  const std::size_t inputs = model.architecture.inputs.size();
  const std::size_t labelled = inputs + model.architecture.outputs.size();
  if (example.size() == inputs || example.size() == labelled || example.size() == labelled + 1) return;
  throw invalid_argument(
      fmt::format("predict: an element has the model's inputs, {}, and may have its labels, {}, and a "
                  "weight, but these have {} tensors: {}",
                  inputs, labelled - inputs, example.size(), to_string(example)));
}

}  // namespace

std::vector<Tensor> predict_inputs(ModelEngine& model, const std::vector<Tensor>& inputs,
                                   std::int64_t batch_size) {
  model.expect_weights("predict");
  const std::int64_t rows = rows_of(inputs);
  const Dataset examples = Dataset::tensors(inputs);
  model.build(types_of_example(examples, model.runtime));
  return predict(model, examples, check_batch_size(batch_size), rows);
}

std::vector<Tensor> predict_examples(ModelEngine& model, const Dataset& examples,
                                     const PredictOptions& options) {
  model.expect_weights("predict");
  const std::int64_t batch_size = check_batch_size(options.batch_size);
  const Dataset wanted = first_batches(examples, batch_size, check_steps("predict", options.steps));
  auto types = types_of_example(wanted, model.runtime);
  expect_example(model, types);
  types.resize(model.architecture.inputs.size());
  model.build(types);
  return predict(model, wanted, batch_size, batch_size);
}

}  // namespace actorflow
