#include "actors/models/fit/single_batch.h"

#include "actors/input/rows.h"
#include "actors/models/data/batches.h"
#include "actors/models/data/not_finite_data.h"
#include "actors/models/logs/totals.h"
#include "actors/runtime/runtime.h"

namespace actorflow {
namespace {

Tuple read_batch(const ModelEngine& model, const TrainingData& batch) {
  Runtime& runtime = *model.local->server.runtime();
  return read_all(batch.elements(), {&runtime.storage(), &runtime.team()});
}

Logs logs_of(const ModelEngine& model, const std::vector<Tensor>& values) {
  Totals totals(model.compiled().metrics);
  totals.add(values, 1);
  Logs logs;
  totals.write_to(logs);
  return logs;
}

}  // namespace

Logs train_on_batch(ModelEngine& model, const TrainingData& batch) {
  model.expect_no_fit("train_on_batch");
  model.expect_weights("train_on_batch");
  TrainingStep& step = model.build_training(types_of_example(batch.elements(), model.threads()), {});
  const Tuple values = read_batch(model, batch);
  try {
    return logs_of(model, step.plan.run(values));
  } catch (const Error& error) {
    throw with_blame(error, values, model.architecture.inputs.size(), model.architecture.outputs.size());
  }
}

Logs test_on_batch(ModelEngine& model, const TrainingData& batch) {
  model.expect_weights("test_on_batch");
  model.build_testing(types_of_example(batch.elements(), model.threads()));
  return logs_of(model, model.session().test(read_batch(model, batch)));
}

}  // namespace actorflow
