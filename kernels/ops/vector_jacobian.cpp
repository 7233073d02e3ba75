#include "kernels/ops/vector_jacobian.h"

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"

namespace actorflow {

std::vector<Output> vector_jacobian_product(const std::vector<Output>& results,
                                            const std::vector<Output>& arriving,
                                            const std::vector<Output>& targets) {
  Output product;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!is_floating(results[i].dtype()) || !arriving[i]) continue;
    const Output part = sum(cast(results[i] * arriving[i], DType::float64));
    product = product ? product + part : part;
  }
  return product ? gradients(product, targets) : std::vector<Output>(targets.size());
}

}  // namespace actorflow
