#include "actors/collectives/communicator.h"

#include <fmt/format.h>

#include <caf/send.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "actors/collectives/engine/collectives.h"
#include "actors/collectives/engine/fusion.h"
#include "actors/core/ask.h"
#include "actors/named/client_queue.h"
#include "actors/runtime/thread_unit.h"
#include "actors/task/server.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {
namespace {

// It keeps the actor from all else.
constexpr std::chrono::microseconds most_spin{10'000};

}  // namespace

struct CollectiveHandle::State {
  explicit State(std::weak_ptr<Runtime> r) : runtime(std::move(r)) {}
  void set(CollectiveResult value) {
    const std::scoped_lock lock(mutex);
    if (!result) result = std::move(value);
    clients.wake_all();
  }
  // False if the time is over. `begin` asks for the result: this thread, which waits, does what follows.
  bool wait_until(Clock::time_point end, std::function<void()> begin = {}) {
    const auto there = runtime.lock();
    return !there || clients.wait(
                         *there, mutex, end, [this] { return result.has_value(); }, std::move(begin));
  }
  CollectiveResult take() {
    const std::scoped_lock lock(mutex);
    return result ? *result : CollectiveResult{{Code::cancelled, "the server of this group has ended"}};
  }

  const std::weak_ptr<Runtime> runtime;
  mutable std::mutex mutex;
  std::optional<CollectiveResult> result;  // these guarded by it
  ClientQueue clients;
};

namespace {

using Kind = CollectiveKind;

// Destroyed with its last copy: then nobody will answer any more.
template <class State>
class Promise {
 public:
  explicit Promise(std::shared_ptr<State> state) : state_(std::move(state)) {}
  Promise(const Promise&) = delete;
  Promise& operator=(const Promise&) = delete;
  ~Promise() { state_->set({{Code::cancelled, "the server of this group has ended"}}); }
  void keep(CollectiveResult result) { state_->set(std::move(result)); }

 private:
  const std::shared_ptr<State> state_;
};

std::vector<std::string> members_of(const Server& server, const CommunicatorOptions& options) {
  if (!options.members.empty()) return options.members;
  std::vector<std::string> all;
  for (const auto& task : server.cluster().all_tasks()) all.push_back(task.to_string());
  return all;
}

RankPlace place_of(const Server& server, const std::vector<std::string>& members,
                   std::vector<std::string> hosts) {
  if (!hosts.empty() && hosts.size() != members.size())
    throw invalid_argument(
        fmt::format("CommunicatorOptions::hosts: expected a host for each of {} ranks, or none, got {}",
                    members.size(), hosts.size()));
  const bool by_address = hosts.empty();
  int rank = -1;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const TaskName task = TaskName::parse(members[i]);
    if (task == server.name()) rank = static_cast<int>(i);
    if (by_address) hosts.push_back(HostPort::parse(server.cluster().address(task)).host);
  }
  if (rank < 0)
    throw invalid_argument(fmt::format("{} is not among the ranks of the group: {}",
                                       server.name().to_string(), fmt::join(members, " ")));
  return places_of(hosts)[static_cast<std::size_t>(rank)];
}

Entrance& entrance_of(const caf::actor& collectives) {
  return dynamic_cast<CollectivesActor&>(*caf::actor_cast<caf::abstract_actor*>(collectives)).entrance;
}

CollectiveCall reduction(CollectiveKind kind, const ReduceOptions& options) {
  return {.kind = kind,
          .reduction = options.reduction,
          .prescale = options.prescale,
          .postscale = options.postscale,
          .compression = options.compression};
}

}  // namespace

struct Communicator::Impl {
  using State = CollectiveHandle::State;

  Impl(Server& of, const CommunicatorOptions& given)
      : server(of),
        options(given),
        members(members_of(of, given)),
        place(place_of(of, members, given.hosts)),
        runtime(of.runtime()),
        actor(of.context()->collectives),
        entrance(entrance_of(actor)) {
    open();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    try {
      close();
    } catch (...) {  // A simulation ends the client of a killed task while it waits.
    }
  }

  void open() {
    if (options.spin < std::chrono::microseconds(0) || options.spin > most_spin)
      throw invalid_argument(fmt::format("CommunicatorOptions::spin: expected 0 to {} us, got {}",
                                         most_spin.count(), options.spin.count()));
    if (options.costs) check_costs(*options.costs);
    const auto state = std::make_shared<State>(runtime);
    send(OpenGroup{options.group,
                   members,
                   options.hosts,
                   {.algorithm = options.algorithm, .costs = options.costs, .spin = options.spin},
                   [promise = promise_of(state), to = costs](Status status, const CostModel& from) {
                     *to = from;
                     promise->keep({std::move(status)});
                   }});
    const auto there = runtime.lock();
    if (state->wait_until(there->clock().now() + options.timeout)) {
      const Status status = state->take().status;
      if (!status.ok() && status.code != Code::already_exists) close();
      return throw_if_error(status);
    }
    close();
    throw Error(Code::deadline_exceeded,
                fmt::format("not all ranks have opened the group '{}' in {} ms: {}", options.group,
                            options.timeout.count(), fmt::join(members, " ")));
  }
  // Waits until the others have been told: the server may end right after.
  void close(const Status& why = {}) const {
    const auto there = runtime.lock();
    if (!there) return;
    ask<bool>(*there, [&](std::function<void(bool)> told) {
      send(CloseGroup{options.group, why, std::move(told)});
    });
  }

  template <class M>
  void send(M message) const {
    const SystemVisit visit;
    caf::anon_send(actor, std::move(message));
  }

  static std::shared_ptr<Promise<State>> promise_of(std::shared_ptr<State> state) {
    return std::make_shared<Promise<State>>(std::move(state));
  }

  CollectiveHandle begin(CollectiveCall call, const std::string& name, RankInput own) const {
    auto state = std::make_shared<State>(runtime);
    send_call(message_of(state, call_of(std::move(call), name, std::move(own))));
    return CollectiveHandle(std::move(state));
  }
  // What begin() and the wait give, but this thread takes part in the work, or does all of it.
  GatheredRows run(CollectiveCall of, const std::string& name, RankInput own) const {
    GroupCall call = call_of(std::move(of), name, std::move(own));
    call.waits = true;
    std::unique_lock inside(entrance.mutex, std::defer_lock);
    try {
      RankGroup::Glance glance;
      if (entrance.coming == 0 && inside.try_lock() && entrance.inside)
        glance = entrance.inside->glance(options.group, call);
      if (glance.sum) return {std::move(*glance.sum), {}};
      if (inside && !glance.must_call) inside.unlock();
      return call_and_wait(std::move(call), inside);
    } catch (...) {
      // Others may count on what a call has shown, and would take the next one of its name for it.
      const SystemVisit visit;
      if (inside && entrance.inside)
        entrance.inside->break_up(options.group, current_exception_status());
      throw;
    }
  }
  // `inside` is held where the call must follow.
  GatheredRows call_and_wait(GroupCall call, std::unique_lock<std::mutex>& inside) const {
    const auto state = std::make_shared<State>(runtime);
    CallGroup message = message_of(state, std::move(call));
    state->wait_until(Clock::never, [&] {
      if (!inside) return send_call(std::move(message));
      entrance.inside->call_here(message);
      inside.unlock();
    });
    return CollectiveHandle(state).wait_for_rows();
  }
  static GroupCall call_of(CollectiveCall call, const std::string& name, RankInput own) {
    if (call.kind != Kind::barrier && !own.tensor.valid())
      throw invalid_argument("a rank has given no tensor");
    std::string key = name.empty() ? std::string(to_string(call.kind)) : name;
    return {.name = std::move(key), .call = std::move(call), .own = std::move(own), .reply = {}};
  }
  CallGroup message_of(std::shared_ptr<State> state, GroupCall call) const {
    call.reply = [promise = promise_of(std::move(state))](CollectiveResult result) {
      promise->keep(std::move(result));
    };
    return {options.group, std::move(call)};
  }
  void send_call(CallGroup message) const {
    ++entrance.coming;
    send(std::move(message));
  }

  Allocator& memory() const { return server.context()->sending_device->allocator(); }

  Server& server;
  const CommunicatorOptions options;
  const std::vector<std::string> members;
  const RankPlace place;
  const std::shared_ptr<CostModel> costs = std::make_shared<CostModel>();  // until it is open
  const std::weak_ptr<Runtime> runtime;
  const caf::actor actor;
  Entrance& entrance;  // the actor's
};

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
  struct Group {
    std::vector<std::size_t> places;
    std::vector<Tensor> parts;
    std::vector<Shape> shapes;
  };
  std::map<DType, Group> groups;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].valid()) throw invalid_argument("a rank has given no tensor");
    if (values[i].dtype() == DType::string)
      throw invalid_argument("strings do not travel between ranks");
    Group& group = groups[values[i].dtype()];
    group.places.push_back(i);
    group.parts.push_back(values[i]);
    group.shapes.push_back(values[i].shape());
  }
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
