#include "apps/training/accuracy.h"

#include <algorithm>
#include <cmath>

namespace actorflow {

Score score_on(Session& session, const Classifier& model, const LabelledImages& images) {
  constexpr std::int64_t chunk = 1000;
  std::int64_t correct = 0;
  double loss = 0;
  for (std::int64_t first = 0; first < images.count(); first += chunk) {
    const auto size = std::min(chunk, images.count() - first);
    const Batch batch = consecutive_examples(images, first, size);
    const auto results = session.run({model.test.accuracy, model.test.loss},
                                     {{model.x, batch.x}, {model.labels, batch.labels}});
    correct += std::llround(results[0].scalar<float>() * static_cast<double>(size));
    loss += results[1].scalar<float>() * static_cast<double>(size);
  }
  const auto count = static_cast<double>(images.count());
  return {static_cast<double>(correct) / count, loss / count};
}

}  // namespace actorflow
