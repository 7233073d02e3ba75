#include "apps/training/accuracy.h"

#include <algorithm>
#include <cmath>

namespace actorflow {

double accuracy_on(Session& session, const Mlp& model, const LabelledImages& images) {
  constexpr std::int64_t chunk = 1000;
  std::int64_t correct = 0;
  for (std::int64_t first = 0; first < images.count(); first += chunk) {
    const auto size = std::min(chunk, images.count() - first);
    const Batch batch = consecutive_examples(images, first, size);
    const Tensor share = session.run(model.accuracy, {{model.x, batch.x}, {model.labels, batch.labels}});
    correct += std::llround(share.scalar<float>() * static_cast<double>(size));
  }
  return static_cast<double>(correct) / static_cast<double>(images.count());
}

}  // namespace actorflow
