// The caller of a task's clients: the actor that sends what the program's threads say to users' actors.
#pragma once

#include <caf/stateful_actor.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/core/task_context.h"
#include "actors/named/outgoing_streams.h"
#include "actors/runtime/thread_affinity.h"

namespace actorflow {

// The name of the caller: no other actor may have it.
inline constexpr const char* client_caller_name = "actorflow.clients";

// The way from threads to the caller, as long as that is there. Thread-safe.
class CallerDoor {
 public:
  void open(caf::actor caller);
  void close(const Status& why);
  // Throws once the door is closed.
  void send(std::shared_ptr<OutgoingMessage> message) const;
  // Closed together with the door.
  void add(const std::shared_ptr<SendWindow>& window);

 private:
  mutable std::mutex mutex_;
  caf::actor caller_;  // these guarded by mutex_
  Status closed_;
  std::vector<std::weak_ptr<SendWindow>> windows_;
};

// thread -> caller. CAF wants messages that can be copied.
struct SendThis {
  std::shared_ptr<OutgoingMessage> message;
};

class ClientCaller {
 public:
  ClientCaller(GuardedActor* self, TaskRef task, std::shared_ptr<CallerDoor> door)
      : self_(self),
        task_(std::move(task)),
        door_(std::move(door)),
        outgoing_(task_, client_caller_name) {}
  ClientCaller(const ClientCaller&) = delete;
  ClientCaller& operator=(const ClientCaller&) = delete;
  ~ClientCaller();

  caf::behavior behavior();
  void refuse(const SendThis& send, Status why);
  void refuse(const Sender& from, ActorMessage& message, Status why);

 private:
  void send(const SendThis& message);
  void on_message(const Sender& from, ActorMessage& message);
  void tick();

  GuardedActor* self_;
  TaskRef task_;
  std::shared_ptr<CallerDoor> door_;
  OutgoingStreams outgoing_;
  bool ticking_ = false;
};

using ClientCallerActor = caf::stateful_actor<std::unique_ptr<ClientCaller>, LightActor>;
caf::behavior client_caller_actor(ClientCallerActor* self, TaskRef task,
                                  std::shared_ptr<CallerDoor> door);

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::SendThis)
