// ActorRef: how a program's threads talk to an actor (named_actor.h).
//
//   ActorRef counter = server.find("/job:worker/task:1", "counter");
//   counter.tell(Add{"a", 1});
//   Count count = counter.ask<Count>(Get{"a"}).get();
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "actors/named/message_type.h"

namespace actorflow {
namespace detail {

struct ActorRoute;
struct AnswerState;
// Waits for the answer.
RawAnswer take_answer(AnswerState& state);

}  // namespace detail

// An answer that may not be there yet. R is void where only its success is of interest.
template <class R>
class ActorAnswer {
 public:
  explicit ActorAnswer(std::shared_ptr<detail::AnswerState> state) : state_(std::move(state)) {}
  // Waits for the answer, at most for the timeout of ask(). Call it once. Throws the error that a
  // handler threw, naming actor and message; not_found if the task has no such actor; unavailable if the
  // task was lost: whether the message was handled is then unknown; deadline_exceeded; or cancelled if
  // this program's own server has ended.
  R get() {
    const RawAnswer answer = detail::take_answer(*state_);
    if constexpr (std::is_void_v<R>) {
      throw_if_error(answer.status);
    } else {
      static_assert(detail::is_kept<R>(), "an answer holds std::string instead of std::string_view");
      detail::check_answer(answer, message_type<R>());
      return from_payload<R>(answer.payload);
    }
  }

 private:
  std::shared_ptr<detail::AnswerState> state_;
};

// Thread-safe; copies share the window of messages under way. The messages of a thread are handled in
// their order. Not for handlers of actors, which must not wait.
class ActorRef {
 public:
  explicit ActorRef(std::shared_ptr<detail::ActorRoute> route) : route_(std::move(route)) {}

  // Waits until the actor is there: its task may still have to start, and to spawn it. When the time has
  // passed, throws the reason why it is not there.
  void wait_until_there(std::chrono::milliseconds timeout = std::chrono::seconds(60)) const;
  // Sends a message. Waits first while the window of ActorRefOptions is full of messages that the actor
  // has not handled. Throws resource_exhausted when the window stays full for its patience, and
  // cancelled if this program's server has ended. Throws, and does not send the message, if an earlier
  // tell() has failed and no call has thrown its error yet.
  template <class M>
  void tell(const M& message) const {
    send_tell(message_type<M>(), to_payload(message));
  }
  // Sends a message that wants an answer, whether or not an earlier tell() has failed. The timeout
  // begins now.
  template <class R, class M>
  ActorAnswer<R> ask(const M& message,
                     std::chrono::milliseconds timeout = std::chrono::seconds(60)) const {
    return ActorAnswer<R>(send_ask(message_type<M>(), to_payload(message), timeout));
  }
  // Waits until everything that was sent has been handled. Throws the first error of a tell() that no
  // call has thrown yet, an error as of ActorAnswer::get(); deadline_exceeded if the time has passed.
  void drain(std::chrono::milliseconds timeout = std::chrono::seconds(60)) const;

 private:
  void send_tell(const std::string& type, Tensor payload) const;
  std::shared_ptr<detail::AnswerState> send_ask(const std::string& type, Tensor payload,
                                                std::chrono::milliseconds timeout) const;

  std::shared_ptr<detail::ActorRoute> route_;
};

}  // namespace actorflow
