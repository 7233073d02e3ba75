#include "actors/collectives/communicator_impl.h"

#include <fmt/format.h>

#include "actors/core/ask.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {
namespace {

// It keeps the actor from all else.
constexpr std::chrono::microseconds most_spin{10'000};

CollectiveResult server_has_ended() { return {{Code::cancelled, "the server of this group has ended"}}; }

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

GroupCall call_of(CollectiveCall call, const std::string& name, RankInput own) {
  if (call.kind != CollectiveKind::barrier && !own.tensor.valid())
    throw invalid_argument("a rank has given no tensor");
  std::string key = name.empty() ? std::string(to_string(call.kind)) : name;
  return {.name = std::move(key), .call = std::move(call), .own = std::move(own), .reply = {}};
}

}  // namespace

void CollectiveHandle::State::set(CollectiveResult value) {
  const std::scoped_lock lock(mutex);
  if (!result) result = std::move(value);
  clients.wake_all();
}

bool CollectiveHandle::State::wait_until(Clock::time_point end, std::function<void()> begin) {
  const auto there = runtime.lock();
  return !there || clients.wait(
                       *there, mutex, end, [this] { return result.has_value(); }, std::move(begin));
}

CollectiveResult CollectiveHandle::State::take() {
  const std::scoped_lock lock(mutex);
  return result ? *result : server_has_ended();
}

Communicator::Impl::Promise::~Promise() { state_->set(server_has_ended()); }

Communicator::Impl::Impl(Server& of, const CommunicatorOptions& given)
    : server(of),
      options(given),
      members(members_of(of, given)),
      place(place_of(of, members, given.hosts)),
      runtime(of.runtime()),
      actor(of.context()->collectives),
      entrance(entrance_of(actor)) {
  open();
}

Communicator::Impl::~Impl() {
  try {
    close();
  } catch (...) {  // A simulation ends the client of a killed task while it waits.
  }
}

void Communicator::Impl::open() {
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

void Communicator::Impl::close(const Status& why) const {
  const auto there = runtime.lock();
  if (!there || closed.exchange(true)) return;
  try {
    ask<bool>(*there, [&](std::function<void(bool)> told) {
      send(CloseGroup{options.group, why, std::move(told)});
    });
  } catch (...) {
    closed = false;
    throw;
  }
}

CollectiveHandle Communicator::Impl::begin(CollectiveCall call, const std::string& name,
                                           RankInput own) const {
  auto state = std::make_shared<State>(runtime);
  send_call(message_of(state, call_of(std::move(call), name, std::move(own))));
  return CollectiveHandle(std::move(state));
}

GatheredRows Communicator::Impl::run(CollectiveCall of, const std::string& name, RankInput own) const {
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
    if (inside && entrance.inside) entrance.inside->break_up(options.group, current_exception_status());
    throw;
  }
}

GatheredRows Communicator::Impl::call_and_wait(GroupCall call,
                                               std::unique_lock<std::mutex>& inside) const {
  const auto state = std::make_shared<State>(runtime);
  CallGroup message = message_of(state, std::move(call));
  state->wait_until(Clock::never, [&] {
    if (!inside) return send_call(std::move(message));
    entrance.inside->call_here(message);
    inside.unlock();
  });
  return CollectiveHandle(state).wait_for_rows();
}

CallGroup Communicator::Impl::message_of(std::shared_ptr<State> state, GroupCall call) const {
  call.reply = [promise = promise_of(std::move(state))](CollectiveResult result) {
    promise->keep(std::move(result));
  };
  return {options.group, std::move(call)};
}

void Communicator::Impl::send_call(CallGroup message) const {
  ++entrance.coming;
  send(std::move(message));
}

}  // namespace actorflow
