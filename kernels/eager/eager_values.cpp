#include "kernels/eager/eager_values.h"

namespace actorflow {

std::span<Tensor> EagerValues::open(NodeId node, std::size_t outputs) {
  const auto number = static_cast<std::size_t>(node);
  if (number < first_.size()) {
    tensors_.resize(first_[number]);
    first_.resize(number);
  }
  first_.resize(number + 1, tensors_.size());  // nodes in between have no outputs
  tensors_.resize(tensors_.size() + outputs);
  return std::span(tensors_).last(outputs);
}

void EagerValues::set(Edge edge, const Tensor& tensor) {
  tensors_[first_[static_cast<std::size_t>(edge.node)] + static_cast<std::size_t>(edge.output)] = tensor;
}

const Tensor* EagerValues::find(Edge edge) const {
  const auto node = static_cast<std::size_t>(edge.node);
  if (edge.node < 0 || node >= first_.size()) return nullptr;
  const std::size_t place = first_[node] + static_cast<std::size_t>(edge.output);
  return place < end_of(node) && tensors_[place].valid() ? &tensors_[place] : nullptr;
}

}  // namespace actorflow
