#include "actors/named/named_actor_shell.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "actors/named/switchboard.h"
#include "dataflow/values/bounded_wait.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

constexpr auto shell_tick_interval = 100ms;
// A sender is told what has been handled when the actor has nothing else to do, and after this many
// messages at the latest.
constexpr std::uint64_t most_untold = 64;

// To itself: the time of after() has passed.
struct TimeIsUp {
  std::uint64_t timer = 0;
};
// To itself, behind the messages that are there already: tell the senders what was handled.
struct Acknowledge {};

// The sender and the number of a message, for its answer.
struct ReplyAddress {
  explicit ReplyAddress(const IncomingStreams::Arrived& to)
      : task(to.from.task),
        asker(to.message.from),
        self(to.message.to),
        stream(to.mark.stream),
        number(to.message.request) {}

  TaskId task;
  std::string asker, self;
  std::uint64_t stream, number;
};

void reply(const TaskContext& task, const ReplyAddress& to, RawAnswer answer) {
  const MessageMark mark{MessageMark::Kind::reply, to.stream, std::move(answer.type)};
  tell(task, to.task,
       ActorMessage{.to = to.asker,
                    .from = to.self,
                    .type = mark.to_string(),
                    .request = to.number,
                    .content = {},
                    .payload = std::move(answer.payload),
                    .status = std::move(answer.status)});
}

}  // namespace
}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::TimeIsUp)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::Acknowledge)

namespace actorflow {

NamedActorShell::NamedActorShell(GuardedActor* self, TaskRef task, Plan plan,
                                 std::unique_ptr<NamedActor> first)
    : self_(self),
      task_(std::move(task)),
      plan_(std::move(plan)),
      state_(std::move(first)),
      outgoing_(task_, plan_.name) {
  state_->live_on(*this);
}

caf::behavior NamedActorShell::behavior() {
  self_->introduce("named-actor", &task_->self.name);
  return guarded(
      self_, this,  //
      [this](const Sender& from, ActorMessage& message) { on_message(from, message); },
      [this](const PeerLost& lost) { outgoing_.lose(lost); },
      [this](const TimeIsUp& message) { on_time(message.timer); },
      [this](Acknowledge) {
        acknowledging_ = false;
        for (const auto& sender : incoming_.untold())
          if (const auto done = incoming_.take_done(sender, 1)) tell_done(*done);
      },
      [this](Tick) { tick(); });
}

void NamedActorShell::on_message(const Sender& from, ActorMessage& message) {
  using Kind = MessageMark::Kind;
  if (message.type == not_found_type) return outgoing_.take_not_found(from, message);
  auto mark = MessageMark::parse(message.type);
  if (!mark)
    return spdlog::warn("{} has dropped a message of '{}' that it does not understand: {}", who(),
                        message.from, message.type);
  if (mark->kind == Kind::tell || mark->kind == Kind::ask)
    return accept(from, std::move(*mark), message);
  if (mark->kind == Kind::probe) return on_probe(from, *mark, message);
  outgoing_.take(from, *mark, message);
}

void NamedActorShell::accept(const Sender& from, MessageMark mark, ActorMessage& message) {
  const ActorAddress sender{from.task, message.from};
  incoming_.add({from, std::move(mark), std::move(message)});
  while (auto arrived = incoming_.take(sender)) handle(*arrived);
  if (const auto done = incoming_.take_done(sender, most_untold)) tell_done(*done);
  if (incoming_.is_told(sender) || std::exchange(acknowledging_, true)) return;
  caf::anon_send(caf::actor_cast<caf::actor>(self_), Acknowledge{});
}

// An ask is answered whatever happens; a tell only if it has failed.
void NamedActorShell::handle(const IncomingStreams::Arrived& arrived) {
  const ReplyAddress sender(arrived);
  detail::AnswerSlotRef slot;
  if (arrived.mark.kind == MessageMark::Kind::ask)
    slot = std::make_shared<detail::AnswerSlot>(
        [task = task_, sender](RawAnswer answer) { reply(*task, sender, std::move(answer)); });
  Status status = arrived.message.status;  // not ok: the link could not carry it
  if (status.ok()) status = run(arrived.mark.type, [&] { dispatch(arrived, slot); });
  if (status.ok()) return;
  if (slot)
    slot->fail(std::move(status));
  else
    reply(*task_, sender, {std::move(status), {}, {}});
}

void NamedActorShell::dispatch(const IncomingStreams::Arrived& arrived,
                               const detail::AnswerSlotRef& slot) const {
  if (!state_) throw Refused(Code::not_found, stopped_);
  if (slot && arrived.mark.type == message_type<detail::AreYouThere>())
    return slot->succeed(detail::no_answer_type, {});
  handler_of(arrived).run(arrived.message.payload, slot);
}

const NamedActor::Handler& NamedActorShell::handler_of(const IncomingStreams::Arrived& arrived) const {
  const std::string_view type = arrived.mark.type;
  const auto& handlers = state_->handlers();
  const auto found = handlers.find(type.substr(0, type.find('{')));
  const std::string sender = task_->name_of(arrived.from.task).to_string();
  if (found != handlers.end()) {
    if (found->second.type == type) return found->second;
    throw Refused(Code::invalid_argument,
                  fmt::format("{} takes {}, but {} has sent {}: their programs differ", who(),
                              found->second.type, sender, type));
  }
  std::string known;
  for (const auto& [name, handler] : handlers) known += " " + handler.type;
  throw Refused(Code::invalid_argument, fmt::format("{} has no handler for {} of {}; it takes{}", who(),
                                                    type, sender, known.empty() ? " nothing" : known));
}

void NamedActorShell::on_probe(const Sender& from, const MessageMark& mark,
                               const ActorMessage& message) {
  const ActorAddress sender{from.task, message.from};
  if (const auto done = incoming_.take_done(sender, 0); done && done->stream == mark.stream)
    tell_done(*done);
}

void NamedActorShell::tell_done(const IncomingStreams::Done& done) const {
  const MessageMark mark{MessageMark::Kind::done, done.stream, {}};
  actorflow::tell(*task_, done.to.first,
                  ActorMessage{.to = done.to.second,
                               .from = plan_.name,
                               .type = mark.to_string(),
                               .request = done.number,
                               .content = {},
                               .payload = {},
                               .status = {}});
}

// Treats the message as one that its link could not carry: whoever waits for its answer gets the reason.
void NamedActorShell::refuse(const Sender& from, ActorMessage& message, Status why) {
  message.payload = {};
  message.status = std::move(why);
  on_message(from, message);
}

Status NamedActorShell::run(std::string_view what, const std::function<void()>& function) {
  try {
    function();
    return {};
  } catch (const Refused& refused) {
    return refused.status();
  } catch (...) {
    Status status = current_exception_status();
    status.message = fmt::format("{} has failed in {}: {}", who(), what, status.message);
    begin_anew(status.message);
    return status;
  }
}

// The new state does not get answers to what the old one has asked.
void NamedActorShell::begin_anew(const std::string& why) {
  ++life_;
  outgoing_.forget_answers();
  timers_.clear();
  state_.reset();
  Status status;
  if (restarts_++ < plan_.options.restarts) try {
      state_ = plan_.make();
      state_->live_on(*this);
      return spdlog::warn("{}; it begins anew, time {} of {}", why, restarts_, plan_.options.restarts);
    } catch (...) {
      state_.reset();
      status = current_exception_status();
    }
  stopped_ = fmt::format("{}; it has been stopped{}", why,
                         status.ok() ? "" : ": it cannot be made again: " + status.message);
  spdlog::error("{}", stopped_);
}

void NamedActorShell::tell(std::string_view task, std::string_view name, const std::string& type,
                           Tensor payload) {
  OutgoingMessage message{.type = type, .payload = std::move(payload)};
  message.answered = [this, to = fmt::format("'{}' of {}", name, task)](const RawAnswer& failed) {
    spdlog::warn("{}: {} could not take a message: {}", who(), to, failed.status.to_string());
  };
  send(task, name, std::move(message));
}

void NamedActorShell::ask(std::string_view task, std::string_view name, const std::string& type,
                          Tensor payload, std::function<void(RawAnswer)> answer,
                          std::chrono::milliseconds timeout) {
  OutgoingMessage message{.ask = true, .type = type, .payload = std::move(payload)};
  message.deadline = task_->clock->now() + bounded_wait(timeout);
  message.answered = [this, life = life_, answer = std::move(answer),
                      what = "the answer to " + type](RawAnswer raw) {
    if (life == life_) run(what, [&] { answer(std::move(raw)); });
  };
  send(task, name, std::move(message));
}

// A message that cannot be sent is no failure of this actor: the error is thrown as Refused, to whoever
// made it send.
void NamedActorShell::send(std::string_view task, std::string_view name, OutgoingMessage message) {
  try {
    message.to = {task_->id_of(TaskName::parse(task)), std::string(name)};
    message.share = window(message.to).take(message.payload.size_bytes());
  } catch (const Error& error) {
    throw Refused(error.status());
  }
  outgoing_.send(std::move(message));
  if (!std::exchange(ticking_, true)) self_->delayed_send(self_, shell_tick_interval, Tick{});
}

// Where there are many, those that nothing holds are forgotten: they are empty.
SendWindow& NamedActorShell::window(const ActorAddress& to) {
  if (windows_.size() >= many_windows_ && !windows_.contains(to)) {
    std::erase_if(windows_, [](const auto& entry) { return entry.second.use_count() <= 1; });
    many_windows_ = std::max(OutgoingStreams::few, 2 * windows_.size());
  }
  auto& window = windows_[to];
  if (!window)
    window = std::make_shared<SendWindow>(
        fmt::format("'{}' of {}", to.second, task_->name_of(to.first).to_string()), ActorRefOptions{});
  return *window;
}

void NamedActorShell::after(std::chrono::milliseconds delay, std::function<void()> action) {
  timers_.emplace(++last_timer_, std::move(action));
  self_->delayed_send(self_, bounded_wait(delay), TimeIsUp{last_timer_});
}

void NamedActorShell::on_time(std::uint64_t timer) {
  const auto due = timers_.extract(timer);
  if (!due.empty()) run("an action of after()", due.mapped());
}

void NamedActorShell::tick() {
  outgoing_.tick();
  ticking_ = !outgoing_.idle();
  if (ticking_) self_->delayed_send(self_, shell_tick_interval, Tick{});
}

std::string NamedActorShell::who() const {
  return fmt::format("'{}' of {}", plan_.name, task_->self.name.to_string());
}

caf::behavior named_actor_shell(NamedActorShellActor* self, TaskRef task, NamedActorShell::Plan plan,
                                std::shared_ptr<std::unique_ptr<NamedActor>> first) {
  self->state =
      std::make_unique<NamedActorShell>(self, std::move(task), std::move(plan), std::move(*first));
  return self->state->behavior();
}

}  // namespace actorflow
