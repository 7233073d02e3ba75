// Leases: payloads of large messages, which their sender counts until they are destroyed here. The count
// bounds what it may send, and keeps shared memory unchanged while it is read. What lies in its own
// memory need not be counted that long (shared_place.h). Internal to schema/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "dataflow/values/buffer.h"
#include "schema/io/io_loop.h"
#include "schema/io/shared_memory.h"

namespace actorflow {

// A flag in a returned number: the payload lives on, but no longer counts.
inline constexpr std::uint64_t lives_on = std::uint64_t{1} << 63;

// The payloads of one sender. Buffers may be destroyed on any thread, also after the network; the rest
// is for the loop's thread.
class Leases : public std::enable_shared_from_this<Leases> {
 public:
  // `returned` is called on the loop when take_returned() has something.
  Leases(IoLoop& loop, std::function<void()> returned) : returned_(std::move(returned)), loop_(&loop) {}

  // A buffer for a payload in our own memory, which may be changed, or in the sender's, which may not.
  BufferRef lend(std::uint64_t number, std::size_t size_bytes, BufferRef storage);
  BufferRef lend(std::uint64_t number, std::size_t size_bytes, std::shared_ptr<const SharedView> view,
                 std::uint64_t place);

  // The memory of a payload that anybody has lent; null if it is our own.
  static std::shared_ptr<const SharedView> view_of(const BufferRef& buffer);

  // Ends the counting of a payload in another process's memory; false if it is none.
  static bool stop_counting(const BufferRef& buffer);

  // Counts a payload that was not accepted as destroyed.
  void decline(std::uint64_t number, std::size_t size_bytes);

  // The numbers of payloads that have been destroyed since the last call.
  std::vector<std::uint64_t> take_returned();
  std::size_t bytes() const;  // that are counted, of payloads not yet in take_returned()
  bool empty() const;
  // Keeps the connection open as long as a payload lives, so that the sender sees this process.
  void hold(FileDescriptor connection) { connection_ = std::move(connection); }
  // Call when the loop ends: no calls are made to it afterwards.
  void detach();

 private:
  class Leased;
  BufferRef add(std::unique_ptr<Leased> leased);
  void give_back(std::uint64_t number, std::size_t size_bytes);
  void expect(std::size_t size_bytes);
  void tell_sender(std::uint64_t number, std::size_t size_bytes) noexcept;
  void tell_loop();

  const std::function<void()> returned_;
  FileDescriptor connection_;
  mutable std::mutex mutex_;  // guards the rest
  IoLoop* loop_;
  std::vector<std::uint64_t> numbers_;
  bool told_ = false;  // the loop, that there are numbers
  std::size_t bytes_ = 0, returned_bytes_ = 0;
  std::size_t payloads_ = 0, returned_payloads_ = 0;
};

}  // namespace actorflow
