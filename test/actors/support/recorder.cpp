#include "test/actors/support/recorder.h"

#include <boost/test/unit_test.hpp>
#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include "actors/named/switchboard.h"
#include "actors/runtime/runtime.h"
#include "actors/runtime/scheduler.h"

namespace actorflow::test {
namespace {

struct Recording {
  GuardedActor* self;
  Recorder& recorder;
};
using RecordingActor = caf::stateful_actor<std::unique_ptr<Recording>, LightActor>;

caf::behavior recording_actor(RecordingActor* self, Recorder* recorder) {
  self->state = std::make_unique<Recording>(self, *recorder);
  auto* state = self->state.get();
  return guarded(
      self, state,
      [state](const actorflow::Sender&, ActorMessage& message) {
        state->recorder.messages.put(std::move(message));
      },
      [state](const PeerLost& lost) { state->recorder.losses.put(lost.reason); });
}

}  // namespace

Status Recorder::join(const Server& server, const std::string& name) {
  leave();
  const auto task = server.context();
  auto actor = server.runtime()->system().spawn(recording_actor, this);
  Mailbox<Status> answers;
  caf::anon_send(task->switchboard, RegisterActor{name, actor, [&answers](Status status) {
                                                    answers.put(std::move(status));
                                                  }});
  const auto answer = answers.take();
  BOOST_REQUIRE(answer);
  end_ = [actor] {
    Mailbox<bool> ended;
    actor->attach_functor([&ended] { ended.put(true); });
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    BOOST_TEST(ended.take().has_value());
  };
  return *answer;
}

void Recorder::leave() {
  if (const auto end = std::exchange(end_, {})) end();
}

void send(const Server& server, const TaskName& to, ActorMessage message) {
  const auto task = server.context();
  tell(*task, task->id_of(to), std::move(message));
}

}  // namespace actorflow::test
