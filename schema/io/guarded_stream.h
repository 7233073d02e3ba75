// Cap'n Proto messages over a socket, with limits. Internal to schema/: includes Cap'n Proto.
#pragma once

#include <capnp/serialize-async.h>
#include <kj/async-io.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "schema/codec/tensor_codec.h"

namespace actorflow {

// Standard framing, except that every size is checked before memory is allocated, and that a peer that
// has not introduced itself may send only a few KiB. Tensors in outgoing messages live until their bytes
// have been handed to the kernel, whatever the peer answers meanwhile.
//
// Deliveries (worker.capnp) are sent between the messages of the RPC, which never sees them: the highest
// bit of the number of segments marks them.
class GuardedStream final : public capnp::MessageStream {
 public:
  // The limit of a whole message, Cap'n Proto's own default.
  static constexpr std::size_t max_message_bytes = std::size_t{64} << 20;
  static constexpr std::size_t max_untrusted_bytes = std::size_t{16} << 10;
  // The bytes that `-> stream` calls keep in flight on a connection.
  static constexpr int window_bytes = 4 << 20;

  // The first 8 bytes of a message: number of segments - 1 and words of the first segment.
  using Head = std::array<std::uint32_t, 2>;

  // `trusted`: this end made the call. `head`: the bytes that have been read from the stream already.
  GuardedStream(kj::Own<kj::AsyncIoStream> stream, bool trusted, std::optional<Head> head = {})
      : stream_(kj::mv(stream)), trusted_(trusted), head_(head) {}
  // For the end that made the call. Writes to `refusal` if the peer speaks TLS.
  GuardedStream(kj::Own<kj::AsyncIoStream> stream, std::shared_ptr<std::string> refusal)
      : stream_(kj::mv(stream)), trusted_(true), refusal_(std::move(refusal)) {}

  using OnDelivery = std::function<void(capnp::MessageReader&)>;

  // Call when the peer has introduced itself: from then on only the limit per message holds. It may send
  // deliveries if `on_delivery` is set; an exception of that ends the connection.
  void trust(OnDelivery on_delivery = {}) {
    trusted_ = true;
    on_delivery_ = std::move(on_delivery);
  }
  bool trusted() const { return trusted_; }

  // Sends a delivery. The segments must live, and the promise be evaluated, until it is written.
  kj::Promise<void> deliver(kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments);

  const std::shared_ptr<BufferKeeper>& keeper() const { return keeper_; }
  // The stream itself, for bytes between messages.
  kj::AsyncIoStream& bytes() { return *stream_; }

  using capnp::MessageStream::tryReadMessage;
  using capnp::MessageStream::writeMessage;
  using capnp::MessageStream::writeMessages;
  kj::Promise<kj::Maybe<capnp::MessageReaderAndFds>> tryReadMessage(
      kj::ArrayPtr<kj::AutoCloseFd> fd_space, capnp::ReaderOptions options,
      kj::ArrayPtr<capnp::word> scratch_space) override;
  kj::Promise<void> writeMessage(kj::ArrayPtr<const int> fds,
                                 kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments) override;
  kj::Promise<void> writeMessages(
      kj::ArrayPtr<kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>>> messages) override;
  kj::Maybe<int> getSendBufferSize() override { return window_bytes; }
  kj::Promise<void> end() override;

 private:
  enum class Kind : std::uint32_t { call = 0, delivery = std::uint32_t{1} << 31 };
  struct Frame;
  struct Output;
  class Turn;
  kj::Promise<std::size_t> read_head(Frame& frame);
  kj::Promise<void> read_table(Frame& frame);
  kj::Promise<void> read_body(Frame& frame);
  void account(std::size_t bytes);
  void check_plain(const Head& head) const;
  void take_delivery(capnp::MessageReader& reader);
  kj::Promise<void> write(Kind kind, kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments);
  kj::Promise<void> write_now(kj::Own<Turn> turn, Kind kind,
                              kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments);
  void next_turn();

  kj::Own<kj::AsyncIoStream> stream_;
  bool trusted_;
  std::optional<Head> head_;
  const std::shared_ptr<std::string> refusal_;  // or null
  std::size_t untrusted_bytes_ = 0;
  std::shared_ptr<BufferKeeper> keeper_ = std::make_shared<BufferKeeper>();
  OnDelivery on_delivery_;
  bool writing_ = false;
  bool broken_ = false;                                             // a write was given up in the middle
  std::deque<kj::Own<kj::PromiseFulfiller<kj::Own<Turn>>>> turns_;  // of writers that wait
};

}  // namespace actorflow
