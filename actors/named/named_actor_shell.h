// The shell of a user's actor: the actor of CAF that carries it, and makes it anew when it fails.
#pragma once

#include <caf/stateful_actor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/core/task_context.h"
#include "actors/named/incoming_streams.h"
#include "actors/named/named_actor.h"
#include "actors/named/options.h"
#include "actors/named/outgoing_streams.h"
#include "actors/runtime/thread_affinity.h"

namespace actorflow {

using NamedActorFactory = std::function<std::unique_ptr<NamedActor>()>;

class NamedActorShell final : public detail::ActorHost {
 public:
  struct Plan {
    std::string name;
    NamedActorFactory make;
    SpawnOptions options;
  };
  // `first` is what the factory made first.
  NamedActorShell(GuardedActor* self, TaskRef task, Plan plan, std::unique_ptr<NamedActor> first);

  caf::behavior behavior();
  void refuse(const Sender& from, ActorMessage& message, Status why);

  const TaskName& task() const override { return task_->self.name; }
  void tell(std::string_view task, std::string_view name, const std::string& type,
            Tensor payload) override;
  void ask(std::string_view task, std::string_view name, const std::string& type, Tensor payload,
           std::function<void(RawAnswer)> answer, std::chrono::milliseconds timeout) override;
  void after(std::chrono::milliseconds delay, std::function<void()> action) override;

 private:
  void on_message(const Sender& from, ActorMessage& message);
  void accept(const Sender& from, MessageMark mark, ActorMessage& message);
  void handle(const IncomingStreams::Arrived& arrived);
  void dispatch(const IncomingStreams::Arrived& arrived, const detail::AnswerSlotRef& slot) const;
  const NamedActor::Handler& handler_of(const IncomingStreams::Arrived& arrived) const;
  void on_probe(const Sender& from, const MessageMark& mark, const ActorMessage& message);
  void tell_done(const IncomingStreams::Done& done) const;
  void on_time(std::uint64_t timer);
  void tick();

  // Runs a function of the user. If it throws anything but Refused, the actor begins anew.
  Status run(std::string_view what, const std::function<void()>& function);
  void begin_anew(const std::string& why);
  void send(std::string_view task, std::string_view name, OutgoingMessage message);
  SendWindow& window(const ActorAddress& to);
  std::string who() const;

  GuardedActor* self_;
  TaskRef task_;
  const Plan plan_;
  std::unique_ptr<NamedActor> state_;  // null: stopped
  std::string stopped_;                // why
  int restarts_ = 0;
  std::uint64_t life_ = 1;  // of the state
  IncomingStreams incoming_;
  OutgoingStreams outgoing_;
  std::map<ActorAddress, std::shared_ptr<SendWindow>> windows_;
  std::size_t many_windows_ = OutgoingStreams::few;
  std::map<std::uint64_t, std::function<void()>> timers_;
  std::uint64_t last_timer_ = 0;
  bool ticking_ = false, acknowledging_ = false;
};

using NamedActorShellActor = caf::stateful_actor<std::unique_ptr<NamedActorShell>, ComputingActor>;
// `first` is taken from its place; CAF copies arguments.
caf::behavior named_actor_shell(NamedActorShellActor* self, TaskRef task, NamedActorShell::Plan plan,
                                std::shared_ptr<std::unique_ptr<NamedActor>> first);

}  // namespace actorflow
