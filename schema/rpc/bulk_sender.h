// The calling side of a bulk connection: sends large messages one after another, their tensors from
// where they lie, and no more than the receiver wants to hold. Internal to schema/: includes Cap'n
// Proto.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "schema/link.h"
#include "schema/rpc/bulk_connection.h"
#include "schema/rpc/outbox.h"
#include "schema/rpc/rpc_core.h"
#include "schema/rpc/window.h"

namespace actorflow {

// For the loop's thread, except path(). Lives on after stop() until the receiver has returned the blocks
// that it reads in our shared memory, or has gone.
class BulkSender : public std::enable_shared_from_this<BulkSender> {
 public:
  struct Events {
    // The outbox is empty; all its messages have been sent.
    std::function<void()> idle;
    // The last event.
    std::function<void(Status)> failed;
  };

  // `receiver` is the name of the receiver in errors.
  BulkSender(RpcCore& core, Outbox& outbox, std::string receiver, Events events)
      : core_(core), outbox_(outbox), receiver_(std::move(receiver)), events_(std::move(events)) {}

  // Starts sending, on the receiver's terms; `rpc` is the connection to it.
  void start(wire::BulkLane::Reader terms, RpcEnd& rpc);
  // Sends the messages in the outbox.
  void pump();
  // Nothing is sent and no event comes after this; the outbox may be destroyed. Not to be called inside
  // an event.
  void stop();

  // Any thread: the way that tensors take, known from the first one on.
  TensorPath path() const { return path_; }

 private:
  struct Frame;

  kj::Promise<void> pump_all();
  kj::Promise<void> open();
  kj::Promise<void> send(const Message& message);
  kj::Promise<void> send_in_place_of(Frame& frame, Status reason);
  void encode(const Message& message, Frame& frame);
  kj::Promise<void> transmit(kj::Own<Frame> frame);
  void place(Frame& frame);
  kj::Promise<Status> wait_for_window(std::size_t bytes);
  Status report_full_window(std::size_t bytes);
  std::string holders() const;
  kj::Promise<void> copy(Frame& frame, std::size_t index, std::size_t offset);
  kj::Promise<void> write(Frame& frame);
  kj::Promise<void> read_returned();
  void take_back(std::uint64_t number);
  void all_returned();

  // A payload that the receiver still holds: its size (0: it counts no longer), its block if that lies
  // in shared memory, and its step (0: a graph).
  struct Lease {
    std::size_t size_bytes = 0;
    BufferRef block;
    StepId step = 0;
  };

  RpcCore& core_;
  Outbox& outbox_;
  const std::string receiver_;
  Events events_;
  std::atomic<TensorPath> path_{TensorPath::none};
  BulkAddress address_;
  Window window_;
  std::uint64_t next_number_ = 1;
  std::unordered_map<std::uint64_t, Lease> leases_;
  std::size_t leased_bytes_ = 0;
  bool started_ = false;
  bool draining_ = false;  // pump_all() is under way
  bool stopped_ = false;
  kj::Own<kj::AsyncIoStream> stream_;                          // null until the first message
  kj::Own<kj::PromiseFulfiller<void>> window_opened_;          // null while nobody waits
  kj::Own<kj::PromiseFulfiller<void>> given_back_;             // null before stop()
  kj::TimePoint stalled_since_ = kj::origin<kj::TimePoint>();  // a message waits and nothing comes back
  kj::TimePoint next_report_ = kj::origin<kj::TimePoint>();    // of the stall
  std::array<std::uint64_t, 512> returned_{};
  kj::Promise<void> sending_ = nullptr;
  kj::Promise<void> reading_ = nullptr;
};

}  // namespace actorflow
