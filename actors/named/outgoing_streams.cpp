#include "actors/named/outgoing_streams.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>

namespace actorflow {
namespace {

using namespace std::chrono_literals;

// An actor that has had messages of ours and been silent for this long is named in the log, and asked
// what it has handled.
constexpr auto silence = 2s;
constexpr auto report_interval = 10s;

void answer(const std::function<void(RawAnswer)>& answered, RawAnswer result) {
  if (answered) answered(std::move(result));
}

}  // namespace

void OutgoingStreams::post(const Entry& entry, MessageMark::Kind kind, const std::string& type,
                           std::uint64_t number, Tensor payload) const {
  const auto& [to, stream] = entry;
  tell(*task_, to.first,
       ActorMessage{.to = to.second,
                    .from = own_name_,
                    .type = MessageMark{kind, stream.first, type}.to_string(),
                    .request = number,
                    .content = {},
                    .payload = std::move(payload),
                    .status = {}});
}

OutgoingStreams::Entry& OutgoingStreams::entry_of(const ActorAddress& to) {
  if (const auto found = streams_.find(to); found != streams_.end()) return *found;
  Stream stream;
  stream.last = stream.handled = forgotten_;
  stream.first = stream.last + 1;
  return *streams_.emplace(to, std::move(stream)).first;
}

// The numbers of a new stream are above all forgotten ones, so that its actor takes them for new ones.
void OutgoingStreams::forget_settled() {
  std::erase_if(streams_, [this](const Entry& entry) {
    if (!entry.second.is_settled()) return false;
    forgotten_ = std::max(forgotten_, entry.second.last);
    return true;
  });
  many_ = std::max(few, 2 * streams_.size());
}

void OutgoingStreams::send(OutgoingMessage message) {
  Entry& entry = entry_of(message.to);
  Stream& stream = entry.second;
  const auto number = stream.last + 1;
  if (stream.waiting.empty()) {
    stream.heard = stream.probed = task_->clock->now();
    stream.next_report = stream.heard + silence;
  }
  const auto added =
      stream.waiting
          .try_emplace(number, Waiting{message.ask, message.type, std::move(message.share),
                                       message.deadline, std::move(message.answered)})
          .first;
  try {
    post(entry, message.ask ? MessageMark::Kind::ask : MessageMark::Kind::tell, message.type, number,
         std::move(message.payload));
  } catch (...) {
    stream.waiting.erase(added);
    throw;
  }
  stream.last = number;
}

void OutgoingStreams::take(const Sender& from, const MessageMark& mark, ActorMessage& message) {
  const auto entry = streams_.find({from.task, message.from});
  if (entry == streams_.end() || entry->second.first != mark.stream) return;
  Stream& stream = entry->second;
  stream.incarnation = from.incarnation;
  stream.heard = task_->clock->now();
  stream.handled = std::max(stream.handled, message.request);
  if (mark.kind == MessageMark::Kind::done) {
    const auto end = stream.waiting.upper_bound(message.request);
    for (auto waiting = stream.waiting.begin(); waiting != end;)
      waiting = waiting->second.ask ? std::next(waiting) : stream.waiting.erase(waiting);
    return;
  }
  auto waiting = stream.waiting.extract(message.request);
  if (waiting.empty()) return;
  // The share of a tell is released only after answer() has noted the error, so that ActorRef::drain()
  // finds the error once the window is empty.
  if (waiting.mapped().ask) waiting.mapped().share.reset();
  answer(waiting.mapped().answered, {std::move(message.status), mark.type, std::move(message.payload)});
}

// Messages that were sent after it are not handled either: a stream has no gaps.
void OutgoingStreams::take_not_found(const Sender& from, const ActorMessage& message) {
  const auto entry = streams_.find({from.task, message.from});
  if (entry == streams_.end() || !entry->second.waiting.contains(message.request)) return;
  give_up(*entry, message.status.code, message.status.message);
}

// Streams with nothing under way, too: the actor's next life knows none of their numbers, and would wait
// for those before the next one.
void OutgoingStreams::lose(const PeerLost& lost) {
  for (auto& entry : streams_) {
    const auto& [to, stream] = entry;
    if (!lost.concerns({to.first, stream.incarnation})) continue;
    give_up(entry, Code::unavailable,
            fmt::format("{}; it is unknown whether {} has handled its last messages",
                        lost.reason.message, name_of(to)));
  }
}

// A new stream begins with the next message.
void OutgoingStreams::give_up(Entry& entry, Code code, const std::string& why) {
  Stream& stream = entry.second;
  stream.first = stream.last + 1;
  stream.incarnation = 0;
  for (auto& [number, waiting] : std::exchange(stream.waiting, {})) {
    if (waiting.ask) waiting.share.reset();
    answer(waiting.answered, {{code, why}, {}, {}});
  }
}

// Streams are forgotten here alone: an `answered` may send, while those that call it go through them.
void OutgoingStreams::tick() {
  if (streams_.size() >= many_) forget_settled();
  for (auto& entry : streams_) {
    if (entry.second.waiting.empty()) continue;
    attend(entry);
    end_late_asks(entry);
  }
}

void OutgoingStreams::attend(Entry& entry) {
  auto& [to, stream] = entry;
  const auto now = task_->clock->now();
  if (now - std::max(stream.heard, stream.probed) < silence) return;
  if (now >= stream.next_report) {
    stream.next_report = now + report_interval;
    spdlog::warn("{}: waiting for {}, which has said nothing about {} message(s) for {:.0f} s",
                 task_->self.name.to_string(), name_of(to), stream.waiting.size(),
                 std::chrono::duration<double>(now - stream.heard).count());
  }
  stream.probed = now;
  post(entry, MessageMark::Kind::probe, {}, stream.last, {});
}

void OutgoingStreams::end_late_asks(Entry& entry) {
  const auto now = task_->clock->now();
  std::vector<Waiting> late;
  std::erase_if(entry.second.waiting, [&](auto& waiting) {
    if (now < waiting.second.deadline) return false;
    late.push_back(std::move(waiting.second));
    return true;
  });
  for (auto& waiting : late) {
    waiting.share.reset();
    answer(waiting.answered, {{Code::deadline_exceeded, fmt::format("{} has not answered {} in time",
                                                                    name_of(entry.first), waiting.type)},
                              {},
                              {}});
  }
}

bool OutgoingStreams::idle() const {
  return std::ranges::all_of(streams_, [](const auto& entry) { return entry.second.waiting.empty(); });
}

void OutgoingStreams::forget_answers() {
  for (auto& [to, stream] : streams_)
    for (auto& [number, waiting] : stream.waiting) waiting.answered = {};
}

std::string OutgoingStreams::name_of(const ActorAddress& actor) const {
  return fmt::format("'{}' of {}", actor.second, task_->name_of(actor.first).to_string());
}

}  // namespace actorflow
