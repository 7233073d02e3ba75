// How a Communicator's calls become messages to the task's CollectivesActor, and how its thread waits
// for the answers. For communicator*.cpp.
#pragma once

#include <atomic>
#include <caf/send.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/collectives/communicator.h"
#include "actors/collectives/engine/collectives.h"
#include "actors/named/client_queue.h"
#include "actors/runtime/thread_unit.h"
#include "actors/task/server.h"

namespace actorflow {

// The result of an operation, or of what else is asked of the actor. Thread-safe.
struct CollectiveHandle::State {
  explicit State(std::weak_ptr<Runtime> r) : runtime(std::move(r)) {}
  // The first result counts.
  void set(CollectiveResult value);
  // False if the time is over. `begin` asks for the result: this thread, which waits, does what follows.
  bool wait_until(Clock::time_point end, std::function<void()> begin = {});
  CollectiveResult take();

  const std::weak_ptr<Runtime> runtime;
  mutable std::mutex mutex;
  std::optional<CollectiveResult> result;  // these guarded by it
  ClientQueue clients;
};

// A task's part in a group. Open as long as it lives.
struct Communicator::Impl {
  using State = CollectiveHandle::State;

  // Keeps a result for who waits. Destroyed with its last copy: then nobody will answer any more.
  class Promise {
   public:
    explicit Promise(std::shared_ptr<State> state) : state_(std::move(state)) {}
    Promise(const Promise&) = delete;
    Promise& operator=(const Promise&) = delete;
    ~Promise();
    void keep(CollectiveResult result) { state_->set(std::move(result)); }

   private:
    const std::shared_ptr<State> state_;
  };

  Impl(Server& of, const CommunicatorOptions& given);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  void open();
  // Waits until the others have been told: the server may end right after. Once only: then another
  // communicator may have the name.
  void close(const Status& why = {}) const;

  template <class M>
  void send(M message) const {
    const SystemVisit visit;
    caf::anon_send(actor, std::move(message));
  }
  static std::shared_ptr<Promise> promise_of(std::shared_ptr<State> state) {
    return std::make_shared<Promise>(std::move(state));
  }

  CollectiveHandle begin(CollectiveCall call, const std::string& name, RankInput own) const;
  // What begin() and the wait give, but this thread takes part in the work, or does all of it.
  GatheredRows run(CollectiveCall of, const std::string& name, RankInput own) const;
  // `inside` is held where the call must follow.
  GatheredRows call_and_wait(GroupCall call, std::unique_lock<std::mutex>& inside) const;
  CallGroup message_of(std::shared_ptr<State> state, GroupCall call) const;
  void send_call(CallGroup message) const;

  Allocator& memory() const { return server.context()->sending_device->allocator(); }

  Server& server;
  const CommunicatorOptions options;
  const std::vector<std::string> members;
  const RankPlace place;
  const std::shared_ptr<CostModel> costs = std::make_shared<CostModel>();  // until it is open
  const std::weak_ptr<Runtime> runtime;
  const caf::actor actor;
  Entrance& entrance;  // the actor's
  mutable std::atomic<bool> closed{false};
};

}  // namespace actorflow
