#include "actors/collectives/communicator.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "actors/collectives/communicator_impl.h"
#include "actors/collectives/operation/fusion.h"

namespace actorflow {
namespace {

using Kind = CollectiveKind;

CollectiveCall reduction(Kind kind, const ReduceOptions& options) {
  return {.kind = kind,
          .reduction = options.reduction,
          .prescale = options.prescale,
          .postscale = options.postscale,
          .compression = options.compression};
}

// Tensors of one dtype, which are reduced as one.
struct TensorsOfDtype {
  std::vector<std::size_t> places;  // among all tensors
  std::vector<Tensor> parts;
  std::vector<Shape> shapes;
};

std::map<DType, TensorsOfDtype> by_dtype(const std::vector<Tensor>& values) {
  std::map<DType, TensorsOfDtype> groups;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].valid()) throw invalid_argument("a rank has given no tensor");
    if (values[i].dtype() == DType::string)
      throw invalid_argument("strings do not travel between ranks");
    TensorsOfDtype& group = groups[values[i].dtype()];
    group.places.push_back(i);
    group.parts.push_back(values[i]);
    group.shapes.push_back(values[i].shape());
  }
  return groups;
}

}  // namespace

Tensor CollectiveHandle::wait() const { return wait_for_rows().tensor; }

GatheredRows CollectiveHandle::wait_for_rows() const {
  state_->wait_until(Clock::never);
  CollectiveResult result = state_->take();
  throw_if_error(result.status);
  return {std::move(result.tensor), std::move(result.rows)};
}

bool CollectiveHandle::done() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->result.has_value();
}

Communicator::Communicator(Server& server, const CommunicatorOptions& options)
    : impl_(std::make_shared<const Impl>(server, options)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;
void Communicator::abandon(const Status& why) const { impl_->close(why); }

int Communicator::size() const { return static_cast<int>(impl_->members.size()); }
const RankPlace& Communicator::place() const { return impl_->place; }
const CostModel& Communicator::costs() const { return *impl_->costs; }

Communicator Communicator::subset(const std::vector<int>& ranks) const {
  if (ranks.empty()) throw invalid_argument("expected one rank or more in a subset, got none");
  CommunicatorOptions options = impl_->options;
  options.members.clear();
  options.hosts.clear();
  for (const int rank : ranks) {
    if (rank < 0 || rank >= size())
      throw invalid_argument(fmt::format("expected ranks from 0 to {}, got {}", size() - 1, rank));
    const auto place = static_cast<std::size_t>(rank);
    options.members.push_back(impl_->members[place]);
    if (!impl_->options.hosts.empty()) options.hosts.push_back(impl_->options.hosts[place]);
  }
  options.group = fmt::format("{}[{}]", impl_->options.group, fmt::join(ranks, ","));
  return Communicator(impl_->server, options);
}

Tensor Communicator::allocate(DType dtype, const Shape& shape) const {
  return Tensor::allocate(dtype, shape, impl_->memory());
}

CollectiveHandle Communicator::all_reduce_async(const Tensor& value,
                                                const ReduceOptions& options) const {
  return impl_->begin(reduction(Kind::all_reduce, options), options.name, {value});
}
Tensor Communicator::all_reduce(const Tensor& value, const ReduceOptions& options) const {
  return impl_->run(reduction(Kind::all_reduce, options), options.name, {value}).tensor;
}

CollectiveHandle Communicator::reduce_scatter_async(const Tensor& value,
                                                    const ReduceOptions& options) const {
  return impl_->begin(reduction(Kind::reduce_scatter, options), options.name, {value});
}
Tensor Communicator::reduce_scatter(const Tensor& value, const ReduceOptions& options) const {
  return impl_->run(reduction(Kind::reduce_scatter, options), options.name, {value}).tensor;
}

CollectiveHandle Communicator::all_gather_async(const Tensor& value,
                                                const CollectiveOptions& options) const {
  return impl_->begin({.kind = Kind::all_gather}, options.name, {value});
}
Tensor Communicator::all_gather(const Tensor& value, const CollectiveOptions& options) const {
  return impl_->run({.kind = Kind::all_gather}, options.name, {value}).tensor;
}

CollectiveHandle Communicator::broadcast_async(const Tensor& value, int root,
                                               const CollectiveOptions& options) const {
  return impl_->begin({.kind = Kind::broadcast, .root = root}, options.name, {value});
}
Tensor Communicator::broadcast(const Tensor& value, int root, const CollectiveOptions& options) const {
  return impl_->run({.kind = Kind::broadcast, .root = root}, options.name, {value}).tensor;
}

// Rows that do not come out even are refused on all ranks, as wrong splits are.
CollectiveHandle Communicator::all_to_all_async(const Tensor& value,
                                                const std::vector<std::int64_t>& splits,
                                                const CollectiveOptions& options) const {
  RankInput own{value, splits};
  const std::int64_t rows = value.valid() && value.shape().rank() > 0 ? value.shape()[0] : 0;
  if (splits.empty()) own.splits.assign(static_cast<std::size_t>(size()), rows / size());
  return impl_->begin({.kind = Kind::all_to_all}, options.name, std::move(own));
}
GatheredRows Communicator::all_to_all(const Tensor& value, const std::vector<std::int64_t>& splits,
                                      const CollectiveOptions& options) const {
  return all_to_all_async(value, splits, options).wait_for_rows();
}

void Communicator::barrier(const CollectiveOptions& options) const {
  impl_->run({.kind = Kind::barrier}, options.name, {});
}

int Communicator::join() const {
  const auto state = std::make_shared<CollectiveHandle::State>(impl_->runtime);
  impl_->send(
      JoinGroup{impl_->options.group, [promise = Impl::promise_of(state)](Status status, int last) {
                  promise->keep({std::move(status), {}, {last}});
                }});
  return static_cast<int>(CollectiveHandle(state).wait_for_rows().rows.at(0));
}

GroupWaits Communicator::waits() const {
  const auto state = std::make_shared<CollectiveHandle::State>(impl_->runtime);
  const auto waits = std::make_shared<GroupWaits>();
  impl_->send(AskGroup{impl_->options.group, [waits, promise = Impl::promise_of(state)](
                                                 Status status, const GroupWaits& answer) {
                         *waits = answer;
                         promise->keep({std::move(status)});
                       }});
  CollectiveHandle(state).wait_for_rows();
  return *waits;
}

std::vector<Tensor> Communicator::grouped_all_reduce(const std::vector<Tensor>& values,
                                                     const ReduceOptions& options) const {
  const auto groups = by_dtype(values);
  // This thread takes part in the last one.
  std::vector<CollectiveHandle> handles;
  Tensor last;
  for (const auto& [dtype, group] : groups) {
    CollectiveCall call = reduction(Kind::all_reduce, options);
    for (const Tensor& part : group.parts) call.splits.push_back(part.elements());
    const std::string name = fmt::format(
        "{}/{}", options.name.empty() ? "grouped_all_reduce" : options.name, to_string(dtype));
    RankInput own{fused(group.parts, FusedLayout::aligned, impl_->memory())};
    if (handles.size() + 1 < groups.size())
      handles.push_back(impl_->begin(std::move(call), name, std::move(own)));
    else
      last = impl_->run(std::move(call), name, std::move(own)).tensor;
  }
  std::vector<Tensor> results(values.size());
  auto handle = handles.begin();
  for (const auto& [dtype, group] : groups) {
    auto parts = cut(handle == handles.end() ? last : (handle++)->wait(), group.shapes);
    for (std::size_t i = 0; i < parts.size(); ++i) results[group.places[i]] = std::move(parts[i]);
  }
  return results;
}

}  // namespace actorflow
