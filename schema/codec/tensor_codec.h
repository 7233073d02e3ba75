// Between tensors and Cap'n Proto (tensor.capnp). Internal to schema/: includes Cap'n Proto.
//
// Tensors that fit are part of the message: small ones copied, larger ones as references to their own
// bytes. Others become transfers, whose chunks are sent ahead of the message (transfer.h).
#pragma once

#include <capnp/orphan.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "dataflow/values/error.h"
#include "dataflow/values/tensor.h"
#include "schema/tensor.capnp.h"

namespace actorflow {

// The largest tensor inside a message.
inline constexpr std::size_t max_inline_bytes = std::size_t{1} << 20;

// The memory that a connection's outgoing messages refer to, until they have been written.
class BufferKeeper {
 public:
  // Keeps the buffer whose referenced bytes start at `begin`.
  void keep(const void* begin, const BufferRef& buffer) { kept_.emplace(begin, buffer); }
  // Releases the buffer of one reference to `begin` to the caller; empty if there is none.
  BufferRef take(const void* begin);

 private:
  std::unordered_multimap<const void*, BufferRef> kept_;
};

// Bytes that are sent ahead of a message.
struct Transfer {
  std::uint64_t number = 0;
  BufferRef bytes;
  std::size_t size_bytes = 0;
};

struct TensorLimits {
  // The limit for all tensors in the message together; the others become transfers.
  std::size_t message_bytes = std::size_t{4} << 20;
  std::size_t tensor_bytes = max_inline_bytes;
  // False if the receiver accepts no transfers: tensors that do not fit are then refused.
  bool transfers = true;
};

// The limits of a message to a receiver that accepts no transfers.
inline constexpr TensorLimits only_inline{std::size_t{48} << 20, std::size_t{48} << 20, false};

// Writes the tensors of one message. A message has a limited number of segments, so only a limited
// number of its tensors are referenced; the others are copied.
class TensorWriter {
 public:
  // `next_transfer` numbers the transfers of the connection.
  TensorWriter(capnp::Orphanage orphanage, BufferKeeper& keeper, std::uint64_t& next_transfer,
               TensorLimits limits = {})
      : orphanage_(orphanage), keeper_(keeper), next_transfer_(next_transfer), limits_(limits) {}

  // Throws invalid_argument for a tensor that is not on the host, resource_exhausted for one that does
  // not fit if there are no transfers.
  void write(const Tensor& tensor, wire::Tensor::Builder to);
  std::vector<Transfer> take_transfers() { return std::move(transfers_); }

 private:
  void write_inline(const Tensor& tensor, wire::Tensor::Builder to);
  void write_transfer(const Tensor& tensor, std::size_t size_bytes, wire::Tensor::Builder to);

  capnp::Orphanage orphanage_;
  BufferKeeper& keeper_;
  std::uint64_t& next_transfer_;
  TensorLimits limits_;
  std::size_t inline_bytes_ = 0;
  int references_ = 0;
  std::vector<Transfer> transfers_;
};

class TransferReceiver;

// Reads tensors into memory of an allocator. Sizes are checked before memory is taken. Throws
// invalid_argument that names both sizes, or the other mistake.
class TensorReader {
 public:
  TensorReader(Allocator& allocator, TransferReceiver& transfers)
      : allocator_(allocator), transfers_(transfers) {}

  // Returns no tensor for a transfer that was refused, so that the others of the message are still
  // claimed.
  Tensor read(wire::Tensor::Reader from);
  // The reason why a tensor is missing; ok if none is. Valid when all have been read.
  const Status& refusal() const { return refusal_; }

 private:
  Tensor read_strings(const Shape& shape, wire::Tensor::Reader from);
  Tensor read_numbers(DType dtype, const Shape& shape, wire::Tensor::Reader from);

  Allocator& allocator_;
  TransferReceiver& transfers_;
  Status refusal_;
};

DType read_dtype(wire::DType from);
Shape read_dims(capnp::List<std::int64_t>::Reader from);
void write_shape(const Shape& shape, wire::Shape::Builder to);
Shape read_shape(wire::Shape::Reader from);

}  // namespace actorflow
