// NamedActor: the base of a user's own actor, which lives on a task under a name.
//
//   struct Add { std::string key; std::int64_t by; };
//   struct Get { std::string key; };
//   struct Count { std::int64_t value; };
//
//   class Counter : public NamedActor {
//    public:
//     Counter() {
//       on([this](const Add& add) { counts_[add.key] += add.by; });
//       on([this](const Get& get) { return Count{counts_[get.key]}; });
//     }
//    private:
//     std::map<std::string, std::int64_t> counts_;
//   };
//
//   server.spawn("counter", [] { return std::make_unique<Counter>(); });
//   ActorRef counter = server.find("/job:worker/task:1", "counter");  // actor_ref.h
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "actors/named/message_type.h"
#include "dataflow/cluster/device_name.h"

namespace actorflow {
namespace detail {

// Where an answer goes. If the slot is destroyed without an answer, the asker gets an error.
class AnswerSlot {
 public:
  using Send = std::function<void(RawAnswer)>;
  explicit AnswerSlot(Send send) : send_(std::move(send)) {}
  AnswerSlot(const AnswerSlot&) = delete;
  AnswerSlot& operator=(const AnswerSlot&) = delete;
  ~AnswerSlot();
  // The first answer counts.
  void succeed(const std::string& type, Tensor payload);
  void fail(Status why);

 private:
  Send send_;
};
using AnswerSlotRef = std::shared_ptr<AnswerSlot>;  // null: nobody waits for an answer

// What a NamedActor uses of the runtime: the seam between it and its shell (named_actor_shell.h).
class ActorHost {
 public:
  virtual ~ActorHost() = default;
  virtual const TaskName& task() const = 0;
  virtual void tell(std::string_view task, std::string_view name, const std::string& type,
                    Tensor payload) = 0;
  virtual void ask(std::string_view task, std::string_view name, const std::string& type, Tensor payload,
                   std::function<void(RawAnswer)> answer, std::chrono::milliseconds timeout) = 0;
  virtual void after(std::chrono::milliseconds delay, std::function<void()> action) = 0;
};

}  // namespace detail

// The answer to one message, which may be given later, in another handler of the same actor. Keep it in
// the actor: the task does not end while others hold it. Copies are for the same answer; the first one
// given counts.
template <class R>
class ActorReply {
 public:
  explicit ActorReply(detail::AnswerSlotRef slot) : slot_(std::move(slot)) {}
  void send(const R& answer) const {
    if (slot_) slot_->succeed(message_type<R>(), to_payload(answer));
  }
  void fail(Status why) const {
    if (slot_) slot_->fail(std::move(why));
  }

 private:
  detail::AnswerSlotRef slot_;
};

// A derived class registers its handlers by on() in its constructor. Handlers run one at a time, each
// message once, messages of one sender in the order in which they were sent; handlers must not block. An
// actor that is made anew after a failure has lost what its predecessor was waiting for: answers, and
// actions of after().
class NamedActor {
 public:
  // How a type of message is handled; for the host.
  struct Handler {
    std::string type;
    std::function<void(const Tensor& payload, const detail::AnswerSlotRef& slot)> run;
  };

  NamedActor() = default;
  NamedActor(const NamedActor&) = delete;
  NamedActor& operator=(const NamedActor&) = delete;
  virtual ~NamedActor();

  // For the host: the handlers by the names of their structs.
  const std::map<std::string, Handler, std::less<>>& handlers() const { return handlers_; }
  void live_on(detail::ActorHost& host) { host_ = &host; }

 protected:
  // Adds a handler: a lambda that takes a message M, alone or with an ActorReply<R>. It returns
  // the answer, or nothing. Throws already_exists for a second handler of one name.
  template <class F>
  void on(F handler) {
    add(std::move(handler), &F::operator());
  }

  // The functions below are for handlers: in the constructor they throw failed_precondition.
  const TaskName& task() const { return host().task(); }
  // Sends to an actor, such as "counter" of "/job:worker/task:1". Throws resource_exhausted if the
  // receiver does not keep up (ActorRefOptions), invalid_argument if the cluster has no such task.
  // Errors of the receiver are logged.
  template <class M>
  void tell(std::string_view to_task, std::string_view name, const M& message) {
    host().tell(to_task, name, message_type<M>(), to_payload(message));
  }
  // Sends a message that wants an answer. Calls answered(status, R) once, as if it were a handler; the R
  // is empty unless the status is ok. The status is unavailable if the task was lost, and whether the
  // message was handled is then unknown; deadline_exceeded after the timeout. Throws as tell().
  template <class R, class M>
  void ask(std::string_view to_task, std::string_view name, const M& message,
           std::function<void(const Status&, const R&)> answered,
           std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    host().ask(
        to_task, name, message_type<M>(), to_payload(message),
        [answered = std::move(answered)](const RawAnswer& raw) { deliver(answered, raw); }, timeout);
  }
  // Runs the action once, as if it were a handler, when that time has passed.
  void after(std::chrono::milliseconds delay, std::function<void()> action) {
    host().after(delay, std::move(action));
  }

 private:
  template <class A>
  using Plain = std::remove_cvref_t<A>;

  template <class F, class R, class A>
  void add(F handler, R (F::*)(A) const) {
    add_handler(message_type<Plain<A>>(), [handler = std::move(handler)](
                                              const Tensor& payload, const detail::AnswerSlotRef& slot) {
      const auto message = decoded<Plain<A>>(payload);
      if constexpr (std::is_void_v<R>) {
        handler(message);
        if (slot) slot->succeed(detail::no_answer_type, {});
      } else {
        ActorReply<R>(slot).send(handler(message));
      }
    });
  }
  template <class F, class R, class A>
  void add(F handler, void (F::*)(A, ActorReply<R>) const) {
    add_handler(message_type<Plain<A>>(), [handler = std::move(handler)](
                                              const Tensor& payload, const detail::AnswerSlotRef& slot) {
      handler(decoded<Plain<A>>(payload), ActorReply<R>(slot));
    });
  }
  void add_handler(const std::string& type,
                   std::function<void(const Tensor&, const detail::AnswerSlotRef&)> run);

  // Bad bytes are an error of the sender, not a failure of the actor.
  template <class M>
  static M decoded(const Tensor& payload) {
    try {
      return from_payload<M>(payload);
    } catch (const Error& error) {
      throw Refused(error.status());
    }
  }
  template <class R>
  static void deliver(const std::function<void(const Status&, const R&)>& answered,
                      const RawAnswer& raw) {
    R answer{};
    Status status;
    try {
      detail::check_answer(raw, message_type<R>());
      answer = from_payload<R>(raw.payload);
    } catch (const Error& error) {
      status = error.status();
    }
    answered(status, answer);
  }
  detail::ActorHost& host() const;

  detail::ActorHost* host_ = nullptr;
  std::map<std::string, Handler, std::less<>> handlers_;
};

}  // namespace actorflow
