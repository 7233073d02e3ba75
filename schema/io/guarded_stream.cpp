#include "schema/io/guarded_stream.h"

#include <capnp/serialize.h>
#include <kj/debug.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "schema/tls/tls_record.h"

namespace actorflow {
namespace {

constexpr std::uint32_t max_segments = 512;

// What a reader of so many words may look at: each of them a few times. A list of elements without bytes
// counts too, so that a few words cannot stand for millions of them.
std::uint64_t reading_limit(std::uint64_t words) { return 16 * words + 64; }

}  // namespace

// A message as it comes: a table of segment sizes in words, padded to whole words, then the segments.
struct GuardedStream::Frame {
  Head head;
  Kind kind = Kind::call;
  kj::Array<std::uint32_t> more_sizes;
  kj::Array<capnp::word> words;
  kj::Vector<kj::ArrayPtr<const capnp::word>> segments;

  // Takes the kind out of the head.
  void read_kind() {
    constexpr auto mark = static_cast<std::uint32_t>(Kind::delivery);
    kind = static_cast<Kind>(head[0] & mark);
    head[0] &= ~mark;
  }
  std::uint32_t segment_count() const { return head[0] + 1; }
  std::uint32_t size_words(std::uint32_t segment) const {
    return segment == 0 ? head[1] : more_sizes[segment - 1];
  }
};

// What is being written of a message.
struct GuardedStream::Output {
  Output(Kind kind, kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments, BufferKeeper& keeper);

  kj::Vector<std::uint32_t> table;
  kj::Vector<kj::ArrayPtr<const kj::byte>> pieces;
  std::vector<BufferRef> buffers;
};

GuardedStream::Output::Output(Kind kind, kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments,
                              BufferKeeper& keeper)
    : table(segments.size() + 2), pieces(segments.size() + 1) {
  table.add(static_cast<std::uint32_t>(segments.size() - 1) | static_cast<std::uint32_t>(kind));
  for (const auto& segment : segments) table.add(static_cast<std::uint32_t>(segment.size()));
  if (table.size() % 2 != 0) table.add(0);
  pieces.add(table.asPtr().asBytes());
  for (const auto& segment : segments) {
    pieces.add(segment.asBytes());
    if (auto buffer = keeper.take(segment.begin())) buffers.push_back(std::move(buffer));
  }
}

// The right to write; passed on when the write has ended, or whoever wanted it has gone. Nobody can
// write behind half of a message.
class GuardedStream::Turn {
 public:
  explicit Turn(GuardedStream& stream) : stream_(&stream) {}
  Turn(const Turn&) = delete;
  ~Turn() {
    if (stream_ == nullptr) return;
    stream_->broken_ = stream_->broken_ || begun_;
    end();
  }
  void begin() { begun_ = true; }
  void end() { std::exchange(stream_, nullptr)->next_turn(); }

 private:
  GuardedStream* stream_;
  bool begun_ = false;
};

kj::Promise<kj::Maybe<capnp::MessageReaderAndFds>> GuardedStream::tryReadMessage(
    kj::ArrayPtr<kj::AutoCloseFd>, capnp::ReaderOptions options, kj::ArrayPtr<capnp::word>) {
  using Result = kj::Maybe<capnp::MessageReaderAndFds>;
  auto frame = kj::heap<Frame>();
  auto head = read_head(*frame);
  return head.then(
      [this, options, frame = kj::mv(frame)](std::size_t size) mutable -> kj::Promise<Result> {
        if (size == 0) return Result(nullptr);
        check_plain(frame->head);
        KJ_REQUIRE(size == sizeof frame->head, "the connection ended within a message");
        frame->read_kind();
        auto& it = *frame;
        return read_table(it)
            .then([this, &it] { return read_body(it); })
            .then([this, options, frame = kj::mv(frame)]() mutable -> kj::Promise<Result> {
              auto limited = options;
              limited.traversalLimitInWords =
                  std::min(options.traversalLimitInWords, reading_limit(frame->words.size()));
              auto segments = frame->segments.asPtr();
              auto reader = kj::heap<capnp::SegmentArrayMessageReader>(segments, limited);
              if (frame->kind == Kind::call)
                return Result(capnp::MessageReaderAndFds{reader.attach(kj::mv(frame)), nullptr});
              take_delivery(*reader);
              return tryReadMessage(nullptr, options, nullptr);
            });
      });
}

kj::Promise<std::size_t> GuardedStream::read_head(Frame& frame) {
  if (!head_) return stream_->tryRead(frame.head.data(), sizeof frame.head, sizeof frame.head);
  frame.head = *std::exchange(head_, {});
  return sizeof frame.head;
}

// A task that takes TLS alone answers with an alert.
void GuardedStream::check_plain(const Head& head) const {
  if (!refusal_ || !is_tls_record(head, TlsRecord::alert)) return;
  *refusal_ = "it takes connections with TLS only; give this one credentials, too ('actorflow keygen')";
  KJ_FAIL_REQUIRE("the other end speaks TLS");
}

kj::Promise<void> GuardedStream::read_table(Frame& frame) {
  KJ_REQUIRE(frame.head[0] < max_segments, "a message has too many segments, or these are no messages");
  account(sizeof frame.head);
  // An even number, for the padding; at most 2 KiB.
  frame.more_sizes = kj::heapArray<std::uint32_t>(frame.segment_count() / 2 * 2);
  if (frame.more_sizes.size() == 0) return kj::READY_NOW;
  account(frame.more_sizes.size() * sizeof(std::uint32_t));
  return stream_->read(frame.more_sizes.begin(), frame.more_sizes.size() * sizeof(std::uint32_t));
}

kj::Promise<void> GuardedStream::read_body(Frame& frame) {
  std::uint64_t total_words = 0;
  for (std::uint32_t i = 0; i < frame.segment_count(); ++i) total_words += frame.size_words(i);
  const std::uint64_t total_bytes = total_words * sizeof(capnp::word);
  KJ_REQUIRE(total_bytes <= max_message_bytes, "a message is too large", total_bytes, max_message_bytes);
  account(total_bytes);
  frame.words = kj::heapArray<capnp::word>(total_words);
  const capnp::word* begin = frame.words.begin();
  for (std::uint32_t i = 0; i < frame.segment_count(); ++i) {
    frame.segments.add(begin, begin + frame.size_words(i));
    begin += frame.size_words(i);
  }
  if (total_bytes == 0) return kj::READY_NOW;
  return stream_->read(frame.words.begin(), total_bytes);
}

void GuardedStream::account(std::size_t bytes) {
  if (trusted_) return;
  untrusted_bytes_ += bytes;
  KJ_REQUIRE(untrusted_bytes_ <= max_untrusted_bytes, "a peer sent too much before it introduced itself",
             untrusted_bytes_, max_untrusted_bytes);
}

void GuardedStream::take_delivery(capnp::MessageReader& reader) {
  KJ_REQUIRE(on_delivery_ != nullptr, "a delivery where none is taken");
  on_delivery_(reader);
}

kj::Promise<void> GuardedStream::deliver(kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments) {
  return write(Kind::delivery, segments);
}

kj::Promise<void> GuardedStream::writeMessage(
    kj::ArrayPtr<const int>, kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments) {
  return write(Kind::call, segments);
}

// One after another, whoever asks.
kj::Promise<void> GuardedStream::write(Kind kind,
                                       kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments) {
  if (!std::exchange(writing_, true)) return write_now(kj::heap<Turn>(*this), kind, segments);
  auto turn = kj::newPromiseAndFulfiller<kj::Own<Turn>>();
  turns_.push_back(kj::mv(turn.fulfiller));
  return turn.promise.then(
      [this, kind, segments](kj::Own<Turn> mine) { return write_now(kj::mv(mine), kind, segments); });
}

kj::Promise<void> GuardedStream::write_now(
    kj::Own<Turn> turn, Kind kind, kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments) {
  if (broken_) return KJ_EXCEPTION(DISCONNECTED, "the connection was given up within a message");
  turn->begin();
  auto output = kj::heap<Output>(kind, segments, *keeper_);
  auto written = kj::evalNow([&] { return stream_->write(output->pieces); }).attach(kj::mv(output));
  // When it has ended, not when its promise is dropped: the caller may keep that.
  return written
      .then([&it = *turn] { it.end(); },
            [&it = *turn](kj::Exception&& exception) {
              it.end();
              kj::throwFatalException(kj::mv(exception));
            })
      .attach(kj::mv(turn));
}

void GuardedStream::next_turn() {
  while (!turns_.empty()) {
    auto next = kj::mv(turns_.front());
    turns_.pop_front();
    if (next->isWaiting()) return next->fulfill(kj::heap<Turn>(*this));
  }
  writing_ = false;
}

kj::Promise<void> GuardedStream::writeMessages(
    kj::ArrayPtr<kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>>> messages) {
  kj::Promise<void> written = kj::READY_NOW;
  for (const auto segments : messages)
    written = written.then([this, segments] { return writeMessage(nullptr, segments); });
  return written;
}

kj::Promise<void> GuardedStream::end() {
  stream_->shutdownWrite();
  return kj::READY_NOW;
}

}  // namespace actorflow
