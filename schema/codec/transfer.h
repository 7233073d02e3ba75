// Transfers: large tensors sent through a TensorSink (tensor.capnp). Internal to schema/.
#pragma once

#include <kj/async.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dataflow/values/buffer.h"
#include "dataflow/values/error.h"
#include "schema/codec/tensor_codec.h"
#include "schema/tensor.capnp.h"

namespace actorflow {

// Assembles the chunks of incoming transfers, each in one block of the allocator. The peer may announce
// at most `max_bytes` that no message has claimed yet.
class TransferReceiver {
 public:
  struct Received {
    BufferRef bytes;
    std::size_t size_bytes = 0;
  };

  TransferReceiver(Allocator& allocator, std::size_t max_bytes)
      : allocator_(allocator), max_bytes_(max_bytes) {}

  // Throws invalid_argument for a chunk that does not continue its transfer. A transfer that announces
  // too much, or for which there is no memory, is skipped and refused when a message claims it.
  void put(wire::TensorChunk::Reader chunk);
  // Adds a transfer that arrived in another way.
  void add(std::uint64_t number, Received received);
  // Takes the bytes of a complete transfer. Throws invalid_argument if there is none of that number.
  Received take(std::uint64_t number);
  // Takes the reason why the transfer was skipped: resource_exhausted, naming size and limit; ok if it
  // was not.
  Status take_refusal(std::uint64_t number);

 private:
  struct Incoming {
    BufferRef bytes;
    std::size_t size_bytes = 0;
    std::size_t received_bytes = 0;
  };
  Incoming* begin(wire::TensorChunk::Reader chunk);  // null: refused

  Allocator& allocator_;
  std::size_t max_bytes_;
  std::size_t announced_bytes_ = 0;
  std::unordered_map<std::uint64_t, Incoming> incoming_;
  std::unordered_map<std::uint64_t, Status> refused_;
};

// Sends all transfers to the sink; resolves when the next call may be made, not when they have arrived.
// `keeper` belongs to the sink's connection.
kj::Promise<void> send_transfers(std::vector<Transfer> transfers, wire::TensorSink::Client sink,
                                 std::shared_ptr<BufferKeeper> keeper);

}  // namespace actorflow
