#include "schema/codec/transfer.h"

#include <algorithm>
#include <cstring>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
// What an unclaimed transfer costs beside its bytes, so that many tiny ones are limited too.
constexpr std::size_t overhead_bytes = 4096;
// The most refused transfers that no message has claimed. A peer that sends more of them loses its
// connection.
constexpr std::size_t max_refused = 256;

// All chunks of the transfers, one after another.
class ChunkSender {
 public:
  ChunkSender(std::vector<Transfer> transfers, wire::TensorSink::Client sink,
              std::shared_ptr<BufferKeeper> keeper)
      : transfers_(std::move(transfers)), sink_(kj::mv(sink)), keeper_(std::move(keeper)) {}

  kj::Promise<void> send_all() {
    if (index_ == transfers_.size()) return kj::READY_NOW;
    return send_next().then([this] { return send_all(); });
  }

 private:
  kj::Promise<void> send_next() {
    const Transfer& transfer = transfers_[index_];
    std::size_t size = std::min(chunk_bytes, transfer.size_bytes - offset_);
    // References cover whole words; the bytes behind the last whole word are copied.
    const std::size_t words_size = size / sizeof(capnp::word) * sizeof(capnp::word);
    if (words_size > 0) size = words_size;
    auto request = sink_.putRequest();
    auto chunk = request.initChunk();
    chunk.setTransfer(transfer.number);
    chunk.setOffset(offset_);
    chunk.setTotal(transfer.size_bytes);
    const auto* begin = static_cast<const kj::byte*>(transfer.bytes->data()) + offset_;
    const capnp::Data::Reader data(begin, size);
    if (words_size > 0) {
      keeper_->keep(begin, transfer.bytes);
      chunk.adoptData(capnp::Orphanage::getForMessageContaining(chunk).referenceExternalData(data));
    } else {
      chunk.setData(data);
    }
    offset_ += size;
    if (offset_ == transfer.size_bytes) {
      ++index_;
      offset_ = 0;
    }
    return request.send();
  }

  std::vector<Transfer> transfers_;
  wire::TensorSink::Client sink_;
  std::shared_ptr<BufferKeeper> keeper_;
  std::size_t index_ = 0;
  std::size_t offset_ = 0;
};

}  // namespace

void TransferReceiver::put(wire::TensorChunk::Reader chunk) {
  if (refused_.contains(chunk.getTransfer())) return;
  const auto found = incoming_.find(chunk.getTransfer());
  Incoming* const known = found == incoming_.end() ? begin(chunk) : &found->second;
  if (!known) return;
  Incoming& incoming = *known;
  const auto data = chunk.getData();
  if (chunk.getTotal() != incoming.size_bytes || chunk.getOffset() != incoming.received_bytes ||
      data.size() > incoming.size_bytes - incoming.received_bytes)
    throw invalid_argument("transfer " + std::to_string(chunk.getTransfer()) + ": after " +
                           std::to_string(incoming.received_bytes) + " of " +
                           std::to_string(incoming.size_bytes) + " bytes came a chunk of " +
                           std::to_string(data.size()) + " at " + std::to_string(chunk.getOffset()) +
                           " of " + std::to_string(chunk.getTotal()));
  auto* to = static_cast<std::byte*>(incoming.bytes->data()) + incoming.received_bytes;
  if (data.size() > 0) std::memcpy(to, data.begin(), data.size());
  incoming.received_bytes += data.size();
}

TransferReceiver::Incoming* TransferReceiver::begin(wire::TensorChunk::Reader chunk) {
  const std::uint64_t total = chunk.getTotal();
  if (total == 0) throw invalid_argument("a tensor of 0 bytes was announced as a transfer");
  const std::size_t left = max_bytes_ - announced_bytes_;
  try {
    if (total > left || overhead_bytes > left - total)
      throw Error(Code::resource_exhausted, "a tensor of " + std::to_string(total) +
                                                " bytes was announced, but " +
                                                std::to_string(announced_bytes_) +
                                                " of the peer's limit of " + std::to_string(max_bytes_) +
                                                " bytes (ServerOptions::max_incoming_bytes) are taken");
    BufferRef bytes = allocator_.allocate(total);
    announced_bytes_ += total + overhead_bytes;
    return &(incoming_[chunk.getTransfer()] = {std::move(bytes), total, 0});
  } catch (const Error& error) {
    if (refused_.size() == max_refused) throw;
    refused_[chunk.getTransfer()] = error.status();
    return nullptr;
  }
}

Status TransferReceiver::take_refusal(std::uint64_t number) {
  const auto refused = refused_.extract(number);
  return refused ? refused.mapped() : Status();
}

void TransferReceiver::add(std::uint64_t number, Received received) {
  const std::size_t size = received.size_bytes;
  if (incoming_.emplace(number, Incoming{std::move(received.bytes), size, size}).second)
    announced_bytes_ += size + overhead_bytes;
}

TransferReceiver::Received TransferReceiver::take(std::uint64_t number) {
  const auto found = incoming_.find(number);
  if (found == incoming_.end() || found->second.received_bytes != found->second.size_bytes)
    throw invalid_argument("a tensor refers to transfer " + std::to_string(number) +
                           ", which has not arrived completely");
  Received received{std::move(found->second.bytes), found->second.size_bytes};
  announced_bytes_ -= received.size_bytes + overhead_bytes;
  incoming_.erase(found);
  return received;
}

kj::Promise<void> send_transfers(std::vector<Transfer> transfers, wire::TensorSink::Client sink,
                                 std::shared_ptr<BufferKeeper> keeper) {
  if (transfers.empty()) return kj::READY_NOW;
  auto sender = kj::heap<ChunkSender>(std::move(transfers), kj::mv(sink), std::move(keeper));
  auto sent = sender->send_all();
  return sent.attach(kj::mv(sender));
}

}  // namespace actorflow
