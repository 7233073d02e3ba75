#include "actors/named/actor_ref.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "actors/named/actor_route.h"
#include "actors/named/client_queue.h"
#include "dataflow/values/bounded_wait.h"

namespace actorflow {

struct detail::AnswerState {
  explicit AnswerState(std::weak_ptr<Runtime> r) : runtime(std::move(r)) {}
  void set(RawAnswer value) {
    const std::scoped_lock lock(mutex);
    if (!answer) answer = std::move(value);
    clients.wake_all();
  }

  const std::weak_ptr<Runtime> runtime;
  std::mutex mutex;
  std::optional<RawAnswer> answer;  // these guarded by it
  ClientQueue clients;
};

namespace {

constexpr std::chrono::milliseconds retry_interval{50};

Status server_ended() { return {Code::cancelled, "the server of this ActorRef has ended"}; }

// The promise of an answer. It is destroyed with the last copy of its message: if no answer has come by
// then, none will.
class AnswerPromise {
 public:
  explicit AnswerPromise(std::shared_ptr<detail::AnswerState> state) : state_(std::move(state)) {}
  AnswerPromise(const AnswerPromise&) = delete;
  AnswerPromise& operator=(const AnswerPromise&) = delete;
  ~AnswerPromise() { state_->set({server_ended(), {}, {}}); }
  void keep(RawAnswer answer) { state_->set(std::move(answer)); }

 private:
  const std::shared_ptr<detail::AnswerState> state_;
};

std::shared_ptr<Runtime> runtime_of(const detail::ActorRoute& route) {
  auto runtime = route.runtime.lock();
  if (!runtime) throw Error(server_ended());
  return runtime;
}

std::shared_ptr<OutgoingMessage> message_for(const detail::ActorRoute& route, const std::string& type,
                                             Tensor payload) {
  auto message = std::make_shared<OutgoingMessage>();
  message->to = route.to;
  message->type = type;
  message->share = route.window->wait_for(*runtime_of(route), payload.size_bytes());
  message->payload = std::move(payload);
  return message;
}

}  // namespace

// Waits without a limit: whatever sends a message makes sure that an answer or an error comes.
RawAnswer detail::take_answer(AnswerState& state) {
  if (const auto runtime = state.runtime.lock())
    state.clients.wait(*runtime, state.mutex, Clock::never,
                       [&state] { return state.answer.has_value(); });
  const std::scoped_lock lock(state.mutex);
  return state.answer ? *state.answer : RawAnswer{server_ended(), {}, {}};
}

void ActorRef::send_tell(const std::string& type, Tensor payload) const {
  auto message = message_for(*route_, type, std::move(payload));
  route_->window->throw_failure();
  message->answered = [window = route_->window](const RawAnswer& failed) {
    window->failed(failed.status);
  };
  route_->door->send(std::move(message));
}

std::shared_ptr<detail::AnswerState> ActorRef::send_ask(const std::string& type, Tensor payload,
                                                        std::chrono::milliseconds timeout) const {
  const auto end = runtime_of(*route_)->clock().now() + bounded_wait(timeout);
  auto message = message_for(*route_, type, std::move(payload));
  auto state = std::make_shared<detail::AnswerState>(route_->runtime);
  message->ask = true;
  message->deadline = end;
  message->answered = [promise = std::make_shared<AnswerPromise>(state)](RawAnswer answer) {
    promise->keep(std::move(answer));
  };
  route_->door->send(std::move(message));
  return state;
}

void ActorRef::wait_until_there(std::chrono::milliseconds timeout) const {
  const auto runtime = runtime_of(*route_);
  Status told;  // by the last answer
  for (const auto end = runtime->clock().now() + bounded_wait(timeout);;
       runtime->sleep(retry_interval)) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - runtime->clock().now());
    const Status status =
        detail::take_answer(*send_ask(message_type<detail::AreYouThere>(), {}, left)).status;
    if (status.ok()) return;
    // A question that comes too late to be answered says less than the answer before it.
    const bool too_late = status.code == Code::deadline_exceeded && left <= retry_interval;
    if (too_late && !told.ok()) throw Error(told);
    const bool may_come = status.code == Code::not_found || status.code == Code::unavailable;
    if (!may_come || runtime->clock().now() + retry_interval >= end) throw Error(status);
    told = status;
  }
}

void ActorRef::drain(std::chrono::milliseconds timeout) const {
  route_->window->drain(*runtime_of(*route_), timeout);
}

}  // namespace actorflow
