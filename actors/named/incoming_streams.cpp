#include "actors/named/incoming_streams.h"

#include <utility>

namespace actorflow {
namespace {

// How far ahead of the next message one may be. No sender is that far ahead: its window makes it wait
// for answers.
constexpr std::uint64_t most_early = std::uint64_t{1} << 20;

}  // namespace

void IncomingStreams::add(Arrived arrived) {
  const auto incarnation = arrived.from.incarnation;
  const auto first = arrived.mark.stream, number = arrived.message.request;
  Stream& stream = streams_[{arrived.from.task, arrived.message.from}];
  if (stream.incarnation != incarnation || stream.first < first)
    stream = {incarnation, first, first, first - 1, {}};
  if (first < stream.first || number < stream.next || number - stream.next > most_early) return;
  stream.early.try_emplace(number, std::move(arrived));
}

std::optional<IncomingStreams::Arrived> IncomingStreams::take(const ActorAddress& sender) {
  const auto stream = streams_.find(sender);
  if (stream == streams_.end()) return {};
  auto& [to, it] = *stream;
  if (it.early.empty() || it.early.begin()->first != it.next) return {};
  auto taken = std::move(it.early.extract(it.early.begin()).mapped());
  // The answer to an ask tells the sender already that it was taken.
  if (taken.mark.kind == MessageMark::Kind::ask && it.told + 1 == it.next) it.told = it.next;
  ++it.next;
  return taken;
}

std::optional<IncomingStreams::Done> IncomingStreams::take_done(const ActorAddress& sender,
                                                                std::uint64_t news) {
  const auto stream = streams_.find(sender);
  if (stream == streams_.end()) return {};
  auto& it = stream->second;
  if (it.next - 1 - it.told < news) return {};
  it.told = it.next - 1;
  return Done{sender, it.first, it.told};
}

bool IncomingStreams::is_told(const ActorAddress& sender) const {
  const auto stream = streams_.find(sender);
  return stream == streams_.end() || stream->second.told + 1 == stream->second.next;
}

std::vector<ActorAddress> IncomingStreams::untold() const {
  std::vector<ActorAddress> senders;
  for (const auto& [sender, stream] : streams_)
    if (stream.told + 1 != stream.next) senders.push_back(sender);
  return senders;
}

}  // namespace actorflow
