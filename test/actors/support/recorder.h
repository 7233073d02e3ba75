// An actor of a server's task that others reach by name, and that records what it gets.
#pragma once

#include <functional>
#include <string>

#include "actors/task/server.h"
#include "schema/message.h"
#include "test/schema/support/tasks.h"

namespace actorflow::test {

// REQUIRES: it leaves, or is destroyed, before the server.
struct Recorder {
  ~Recorder() { leave(); }
  // Waits until the task's switchboard has answered.
  Status join(const Server& server, const std::string& name);
  // Ends the actor, if there is one.
  void leave();

  Mailbox<ActorMessage> messages;
  Mailbox<Status> losses;  // of tasks

 private:
  std::function<void()> end_;
};

// Sends to an actor of the task `to` (the server's cluster), as the server's task.
void send(const Server& server, const TaskName& to, ActorMessage message);

}  // namespace actorflow::test
