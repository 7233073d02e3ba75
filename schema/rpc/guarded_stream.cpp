#include "schema/rpc/guarded_stream.h"

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
  kj::Array<std::uint32_t> more_sizes;
  kj::Array<capnp::word> words;
  kj::Vector<kj::ArrayPtr<const capnp::word>> segments;

  std::uint32_t segment_count() const { return head[0] + 1; }
  std::uint32_t size_words(std::uint32_t segment) const {
    return segment == 0 ? head[1] : more_sizes[segment - 1];
  }
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
        auto& it = *frame;
        return read_table(it)
            .then([this, &it] { return read_body(it); })
            .then([options, frame = kj::mv(frame)]() mutable -> Result {
              options.traversalLimitInWords =
                  std::min(options.traversalLimitInWords, reading_limit(frame->words.size()));
              auto segments = frame->segments.asPtr();
              auto reader = kj::heap<capnp::SegmentArrayMessageReader>(segments, options);
              return capnp::MessageReaderAndFds{reader.attach(kj::mv(frame)), nullptr};
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

kj::Promise<void> GuardedStream::writeMessage(
    kj::ArrayPtr<const int>, kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments) {
  std::vector<BufferRef> buffers;
  for (const auto& segment : segments)
    if (auto buffer = keeper_->take(segment.begin())) buffers.push_back(std::move(buffer));
  auto written = capnp::writeMessage(*stream_, segments);
  return buffers.empty() ? kj::mv(written) : written.attach(std::move(buffers));
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
