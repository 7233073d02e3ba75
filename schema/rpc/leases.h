// Payloads of large messages that their sender counts until they are destroyed here: what it may send is
// bounded, and shared memory must not change while it is read. Internal to schema/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "dataflow/values/buffer.h"
#include "schema/rpc/io_loop.h"
#include "schema/rpc/shared_memory.h"

namespace actorflow {

// One sender's payloads. Buffers may be destroyed on any thread, also after the network has gone; the
// rest is the loop's.
class Leases : public std::enable_shared_from_this<Leases> {
 public:
  // `returned` is called on the loop when there is something to take.
  Leases(IoLoop& loop, std::function<void()> returned) : returned_(std::move(returned)), loop_(&loop) {}

  // A payload in memory of our own, which may be changed, or in the sender's, which may not.
  BufferRef lend(std::uint64_t number, std::size_t size_bytes, BufferRef storage);
  BufferRef lend(std::uint64_t number, std::size_t size_bytes, std::shared_ptr<const SharedView> view,
                 std::uint64_t place);

  // A payload that was not taken: it counts as destroyed.
  void decline(std::uint64_t number, std::size_t size_bytes);

  // The numbers of payloads that have been destroyed since the last call.
  std::vector<std::uint64_t> take_returned();
  std::size_t bytes() const;  // of those that have not been taken
  bool empty() const { return bytes() == 0; }
  // As long as a payload lives, this is open, and the sender sees that we are there.
  void hold(FileDescriptor connection) { connection_ = std::move(connection); }
  // The loop ends: no more calls.
  void detach();

 private:
  class Leased;
  BufferRef add(std::unique_ptr<Leased> leased);
  void give_back(std::uint64_t number, std::size_t size_bytes);

  const std::function<void()> returned_;
  FileDescriptor connection_;
  mutable std::mutex mutex_;  // guards the rest
  IoLoop* loop_;
  std::vector<std::uint64_t> numbers_;
  std::size_t bytes_ = 0;
  std::size_t returned_bytes_ = 0;
};

}  // namespace actorflow
