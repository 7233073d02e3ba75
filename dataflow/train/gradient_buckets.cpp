#include "dataflow/train/gradient_buckets.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace actorflow {
namespace {

using Bucket = std::vector<std::size_t>;

// Nodes are added in the order of their computation: what back-propagation reaches first comes first.
Bucket in_order_of_computation(std::span<const Output> gradients) {
  Bucket order(gradients.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return gradients[i].edge; });
  return order;
}

// The bucket of one dtype that is being filled.
struct Open {
  Bucket members;
  std::int64_t bytes = 0;
};

}  // namespace

std::vector<Bucket> plan_buckets(std::span<const Output> gradients, const AllReduce& options) {
  std::vector<Bucket> buckets;
  std::map<DType, Open> filling;
  const auto close = [&](Open& open) {
    if (!open.members.empty()) buckets.push_back(std::move(open.members));
    open = {};
  };
  for (const std::size_t i : in_order_of_computation(gradients)) {
    const std::int64_t bytes = gradients[i].type().bytes();
    if (bytes >= options.alone_bytes) {
      buckets.push_back({i});
      continue;
    }
    Open& open = filling[gradients[i].dtype()];
    if (open.bytes + bytes > (buckets.empty() ? options.first_bucket_bytes : options.bucket_bytes))
      close(open);
    open.members.push_back(i);
    open.bytes += bytes;
  }
  for (auto& [dtype, open] : filling) close(open);
  return buckets;
}

GraphReduce mean_over_replicas(const AllReduce& options, DType dtype) {
  return {.reduction = ReduceOp::average,
          .compression = dtype == DType::float32 ? options.compression : ReduceCompression::none};
}

ReducedMeans reduced_means(std::span<const Output> tensors, const AllReduce& options,
                           const std::string& scope) {
  // A rank alone has the means already; a collective operation would bring them to the host.
  if (options.tasks.size() == 1 && options.compression == ReduceCompression::none)
    return {{tensors.begin(), tensors.end()}, {tensors.begin(), tensors.end()}};
  const RankList ranks{options.tasks, GroupLife::continues};
  ReducedMeans reduced{std::vector<Output>(tensors.size()), {}};
  for (const Bucket& bucket : plan_buckets(tensors, options)) {
    std::vector<Output> together;
    for (const std::size_t i : bucket) together.push_back(tensors[i]);
    const auto means =
        grouped_all_reduce(together, ranks, scope + "/bucket_" + std::to_string(reduced.ends.size()),
                           mean_over_replicas(options, together[0].dtype()));
    for (std::size_t k = 0; k < bucket.size(); ++k) reduced.means[bucket[k]] = means[k];
    reduced.ends.push_back(means[0]);
  }
  return reduced;
}

}  // namespace actorflow
