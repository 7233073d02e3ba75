// The accepting side of a bulk connection: reads large messages, their tensors straight into the memory
// that they stay in. Internal to schema/: includes Cap'n Proto.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "schema/io/leases.h"
#include "schema/message.h"
#include "schema/rpc/incoming_budget.h"
#include "schema/rpc/rpc_core.h"

namespace actorflow {

// For the loop's thread. Lives on after stop() until the sender has learnt of every payload that it may
// overwrite.
class BulkReceiver : public std::enable_shared_from_this<BulkReceiver> {
 public:
  struct Events {
    std::function<void(Message)> received;
    // The last event: the reason why the connection must be closed.
    std::function<void(const std::string&)> failed;
  };

  // `view`: the sender's shared memory, if it has any. `share`: for tensors in our own memory.
  BulkReceiver(RpcCore& core, kj::Own<kj::AsyncIoStream> stream, std::shared_ptr<const SharedView> view,
               IncomingBudget::Share share, Events events);
  ~BulkReceiver() { leases_->detach(); }

  void start();
  // No event comes after this. Inside an event, call it by later().
  void stop();

 private:
  struct Incoming;

  kj::Promise<void> welcome();
  kj::Promise<void> read_messages();
  kj::Promise<void> wait_for_room(Incoming& incoming);
  kj::Promise<void> read_payloads(Incoming& incoming);
  kj::Promise<void> read_parts(const BufferRef& to, std::size_t offset);
  kj::Promise<void> skip(std::size_t bytes);
  void check(const Incoming& incoming) const;
  void take(Incoming& incoming);
  void return_payloads();
  kj::Promise<void> write_returned();

  RpcCore& core_;
  GuardedStream stream_;
  const std::shared_ptr<const SharedView> view_;
  IncomingBudget::Share share_;
  Events events_;
  const std::shared_ptr<Leases> leases_;
  std::vector<std::byte> skipped_;  // receives bytes that are dropped
  bool welcomed_ = false;
  bool returning_ = false;
  bool sender_gone_ = false;  // and needs nothing back
  kj::Own<kj::PromiseFulfiller<void>> all_returned_;
  kj::Promise<void> reading_ = nullptr;
  kj::Promise<void> writing_ = nullptr;
};

}  // namespace actorflow
