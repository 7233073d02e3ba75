#include "apps/training/reports/accuracy.h"

#include <cmath>
#include <vector>

#include "actors/runtime/storage.h"
#include "dataflow/values/error.h"

namespace actorflow {

Score score_on(Session& session, const Classifier& model, const Dataset& batches,
               const SeesLogits& sees) {
  std::int64_t correct = 0, labels = 0;
  double loss = 0;
  std::vector<Output> fetches{model.test.accuracy, model.test.loss};
  if (sees) fetches.push_back(model.test.logits);
  const StageRef stage = batches.open({&posix_storage(), nullptr});
  stage->restart(0);
  for (Tuple batch; stage->next(batch);) {
    const auto results = session.run(fetches, {{model.x, batch[0]}, {model.labels, batch[1]}});
    if (sees) sees(batch, results[2]);
    const auto count = static_cast<double>(batch[1].elements());
    labels += batch[1].elements();
    correct += std::llround(results[0].scalar<float>() * count);
    loss += results[1].scalar<float>() * count;
  }
  if (labels == 0) throw invalid_argument("a model cannot be tested without examples");
  return {static_cast<double>(correct) / static_cast<double>(labels),
          loss / static_cast<double>(labels)};
}

}  // namespace actorflow
