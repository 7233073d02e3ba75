#include "kernels/eager/kernel_cache.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "dataflow/graph/subgraph.h"

namespace actorflow {
namespace {

// Tensors count as different: comparing them may cost more than the kernel does. Subgraphs are equal if
// they are the same object.
bool same_value(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&b]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, Tensor>)
          return false;
        else
          return value == std::get<T>(b);
      },
      a);
}

// REQUIRES: both of one op, so that their names are the same and in the same order.
bool same_values(const Attrs& a, const Attrs& b) {
  return std::ranges::equal(a, b,
                            [](const auto& x, const auto& y) { return same_value(x.second, y.second); });
}

}  // namespace

std::shared_ptr<const Kernel> KernelCache::of(const Node& node) {
  const std::lock_guard lock(mutex_);
  auto& variants = kernels_[node.op];
  for (const Variant& known : variants)
    if (known.outputs == node.outputs.size() && same_values(known.attrs, node.attrs))
      return known.kernel;
  std::shared_ptr<const Kernel> made = ops_.make(node, device_);
  // A body is made anew by each call of cond(), and would never be found again.
  if (variants.size() < most_variants && !has_subgraph(node.attrs))
    variants.push_back({node.attrs, node.outputs.size(), made});
  return made;
}

}  // namespace actorflow
