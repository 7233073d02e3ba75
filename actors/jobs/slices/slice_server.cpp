#include "actors/jobs/slices/slice_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstring>
#include <utility>
#include <vector>

#include "dataflow/values/exception_status.h"
#include "kernels/devices/device.h"
#include "schema/records/key.h"

namespace actorflow {
namespace {

struct Found {
  std::uint64_t part = 0;
  std::shared_ptr<const StoredChunks> chunks;  // keeps the next one alive
  const StoredChunk* chunk = nullptr;
  std::size_t partition = 0;
};

// A copy that has changed on the disk is not given to anybody again.
void read(KeptRecords& kept, const Found& found, std::span<std::byte> into) {
  try {
    found.chunk->read(found.partition, into);
  } catch (const Error& error) {
    if (error.code() == Code::data_loss) kept.lose(found.part, found.chunks);
    throw;
  }
}

}  // namespace

caf::behavior SliceServer::behavior() {
  self_->introduce("slices", mail_->task() ? &mail_->task()->self.name : nullptr);
  return guarded(
      self_, this,  //
      [this](const Sender& from, ActorMessage& letter) { on_letter(from, letter); },
      [this](const PeerLost&) {});
}

void SliceServer::on_letter(const Sender& from, const ActorMessage& letter) {
  const auto task = static_cast<int>(from.task);
  // A task that has begun anew does not know the run yet, and has nothing of what it had. Whoever asks
  // may never have spoken with it before, and so not hear that it was lost.
  if (!letter.status.ok() || letter.request != mail_->run())
    return mail_->refuse_slices(task, letter,
                                {Code::not_found, fmt::format("{} has nothing of this run of the job",
                                                              mail_->name_of(mail_->own()))});
  take_letter<FetchSlices>(letter, [&](const FetchSlices& request) { answer(task, request); });
}

void SliceServer::answer(int task, const FetchSlices& request) {
  SlicesAre answer;
  Tensor bytes;
  try {
    bytes = collect(request, answer);
    answer.checksum = hash_bytes(detail::payload_bytes(bytes));
    if (!mail_->on_this_machine(task)) bytes = packed(std::move(bytes), answer);
  } catch (...) {
    answer = {};
    answer.status = current_exception_status();
    bytes = {};
  }
  answer.request = request.request;
  mail_->to_agent(task, std::move(answer), std::move(bytes));
}

Tensor SliceServer::collect(const FetchSlices& request, SlicesAre& answer) const {
  const auto kept = kept_->find(request.stage);
  if (!kept) throw Error(Code::not_found, "the records of this stage are not kept here");
  std::vector<Found> found;
  std::uint64_t bytes = 0;
  answer.next_chunk = request.first_chunk;
  for (const std::uint64_t part : request.parts) {
    const auto slices = kept->slices(part, request.partition);
    const auto& chunks = *slices.chunks;
    for (; answer.next_chunk < chunks.size() && bytes < request.most_bytes; ++answer.next_chunk) {
      const StoredChunk& chunk = *chunks[answer.next_chunk];
      const std::uint64_t size = chunk.slice_bytes(slices.partition);
      if (chunk.records(slices.partition) == 0) continue;
      found.push_back({part, slices.chunks, &chunk, slices.partition});
      answer.pieces.push_back({part, chunk.records(slices.partition), size});
      bytes += size;
    }
    if (answer.next_chunk < chunks.size()) break;
    answer.next_chunk = 0;
    ++answer.parts_done;
  }
  Tensor all = Tensor::allocate(DType::uint8, Shape{static_cast<std::int64_t>(bytes)},
                                mail_->task()->sending_device->allocator());
  std::span<std::byte> into(static_cast<std::byte*>(all.mutable_data()), bytes);
  for (const auto& each : found) {
    const std::size_t size = each.chunk->slice_bytes(each.partition);
    if (each.chunk->in_memory())
      std::memcpy(into.data(), each.chunk->slice(each.partition).data(), size);
    else
      read(*kept, each, into.first(size));
    into = into.subspan(size);
  }
  return all;
}

// For a network, which is slower than LZ4, and maybe than zstd.
Tensor SliceServer::packed(Tensor slices, SlicesAre& answer) {
  const Compression kind = mail_->shuffle_compression();
  const auto block = shrinking_.shrunk(kind, detail::payload_bytes(slices));
  if (block.size() == slices.size_bytes()) return slices;
  answer.packed = kind;
  Tensor packed = Tensor::allocate(DType::uint8, {static_cast<std::int64_t>(block.size())},
                                   mail_->task()->sending_device->allocator());
  std::memcpy(packed.mutable_data(), block.data(), block.size());
  return packed;
}

caf::behavior slice_server_actor(SliceServerActor* self, JobMailRef mail,
                                 std::shared_ptr<const KeptStages> kept) {
  self->state = std::make_unique<SliceServer>(self, std::move(mail), std::move(kept));
  return self->state->behavior();
}

}  // namespace actorflow
