#include "actors/estimator/input.h"

#include "actors/input/rows.h"

namespace actorflow {
namespace {

InputFn input_fn_of(const std::map<std::string, Tensor>& features, const Tensor& labels,
                    const TensorInputOptions& options) {
  std::vector<std::string> names;
  Tuple columns;
  for (const auto& [name, values] : features) {
    names.push_back(name);
    columns.push_back(values);
  }
  if (labels.valid()) columns.push_back(labels);
  rows_of(columns);
  return [=] {
    return NamedExamples{.examples = Dataset::tensors(columns),
                         .features = names,
                         .batch_size = options.batch_size,
                         .num_epochs = options.num_epochs,
                         .shuffle = options.shuffle};
  };
}

}  // namespace

InputFn tensor_input_fn(const std::map<std::string, Tensor>& features, const Tensor& labels,
                        const TensorInputOptions& options) {
  return input_fn_of(features, labels, options);
}

InputFn tensor_input_fn(const std::map<std::string, Tensor>& features,
                        const TensorInputOptions& options) {
  return input_fn_of(features, {}, options);
}

}  // namespace actorflow
