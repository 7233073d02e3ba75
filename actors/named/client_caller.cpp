#include "actors/named/client_caller.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "actors/named/switchboard.h"
#include "actors/runtime/thread_unit.h"

namespace actorflow {
namespace {

constexpr std::chrono::milliseconds caller_tick_interval{100};

}  // namespace

void CallerDoor::open(caf::actor caller) {
  const std::scoped_lock lock(mutex_);
  caller_ = std::move(caller);
}

void CallerDoor::close(const Status& why) {
  const std::scoped_lock lock(mutex_);
  if (!closed_.ok()) return;
  closed_ = why;
  caller_ = {};
  for (const auto& window : windows_)
    if (const auto there = window.lock()) there->close(why);
}

void CallerDoor::send(std::shared_ptr<OutgoingMessage> message) const {
  const SystemVisit visit;
  const std::scoped_lock lock(mutex_);
  throw_if_error(closed_);
  caf::anon_send(caller_, SendThis{std::move(message)});
}

void CallerDoor::add(const std::shared_ptr<SendWindow>& window) {
  const std::scoped_lock lock(mutex_);
  throw_if_error(closed_);
  std::erase_if(windows_, [](const auto& other) { return other.expired(); });
  windows_.push_back(window);
}

ClientCaller::~ClientCaller() {
  door_->close({Code::cancelled, "the server " + task_->self.name.to_string() + " has ended"});
}

caf::behavior ClientCaller::behavior() {
  self_->introduce("client-caller", &task_->self.name);
  return guarded(
      self_, this,  //
      [this](const SendThis& message) { send(message); },
      [this](const Sender& from, ActorMessage& message) { on_message(from, message); },
      [this](const PeerLost& lost) { outgoing_.lose(lost); }, [this](Tick) { tick(); });
}

void ClientCaller::send(const SendThis& message) {
  outgoing_.send(*message.message);
  if (!std::exchange(ticking_, true)) self_->delayed_send(self_, caller_tick_interval, Tick{});
}

void ClientCaller::refuse(const SendThis& send, Status why) {
  if (send.message->answered) send.message->answered({std::move(why), {}, {}});
}

// The message comes without its content, as if its link could not carry it.
void ClientCaller::refuse(const Sender& from, ActorMessage& message, Status why) {
  message.payload = {};
  message.status = std::move(why);
  on_message(from, message);
}

void ClientCaller::on_message(const Sender& from, ActorMessage& message) {
  if (message.type == not_found_type) return outgoing_.take_not_found(from, message);
  const auto mark = MessageMark::parse(message.type);
  const bool answers =
      mark && (mark->kind == MessageMark::Kind::reply || mark->kind == MessageMark::Kind::done);
  if (answers) return outgoing_.take(from, *mark, message);
  spdlog::warn("{}: '{}' has sent {} to the threads of a program, which take answers only",
               task_->self.name.to_string(), message.from, message.type);
}

void ClientCaller::tick() {
  outgoing_.tick();
  ticking_ = !outgoing_.idle();
  if (ticking_) self_->delayed_send(self_, caller_tick_interval, Tick{});
}

caf::behavior client_caller_actor(ClientCallerActor* self, TaskRef task,
                                  std::shared_ptr<CallerDoor> door) {
  self->state = std::make_unique<ClientCaller>(self, std::move(task), std::move(door));
  return self->state->behavior();
}

}  // namespace actorflow
