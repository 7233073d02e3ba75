#include "actors/jobs/slices/chunk_store.h"

#include <fmt/format.h>

#include <utility>

#include "dataflow/values/error.h"
#include "kernels/devices/pool.h"
#include "schema/records/key.h"

namespace actorflow {

std::span<const std::byte> bytes_of(const Chunk& chunk) {
  return {static_cast<const std::byte*>(chunk.bytes->data()), chunk.offsets.back()};
}

namespace {

std::vector<std::uint64_t> checksums_of(const Chunk& chunk) {
  std::vector<std::uint64_t> sums;
  for (std::size_t p = 0; p + 1 < chunk.offsets.size(); ++p)
    sums.push_back(
        hash_bytes(bytes_of(chunk).subspan(chunk.offsets[p], chunk.offsets[p + 1] - chunk.offsets[p])));
  return sums;
}

}  // namespace

StoredChunk::StoredChunk(std::shared_ptr<ChunkStore> store, Chunk chunk, bool in_memory,
                         std::shared_ptr<ScratchFile> file, std::uint64_t at)
    : store_(std::move(store)),
      bytes_(in_memory ? chunk.bytes : BufferRef{}),
      size_bytes_(in_memory ? chunk.bytes->size_bytes() : chunk.offsets.back()),
      offsets_(chunk.offsets),
      records_(chunk.records),
      checksums_(checksums_of(chunk)),
      file_(std::move(file)),
      at_(at) {
  store_->add_index(index_bytes());
}

std::size_t StoredChunk::index_bytes() const {
  return sizeof(StoredChunk) +
         sizeof(std::uint64_t) * (offsets_.size() + records_.size() + checksums_.size());
}

StoredChunk::~StoredChunk() {
  store_->remove_index(index_bytes());
  if (in_memory())
    store_->in_memory_ -= size_bytes_;
  else
    store_->count_unspill(size_bytes_);
}

std::span<const std::byte> StoredChunk::slice(std::size_t partition) const {
  if (!in_memory()) return {};
  return {static_cast<const std::byte*>(bytes_->data()) + offsets_[partition], slice_bytes(partition)};
}

void StoredChunk::read(std::size_t partition, std::span<std::byte> into) const {
  file_->read(at_ + offsets_[partition], into);
  if (hash_bytes(into) != checksums_[partition])
    throw Error(Code::data_loss,
                fmt::format("what was put aside on disk has changed there: {} bytes of partition {}",
                            into.size(), partition));
}

ChunkStore::ChunkStore(Storage& storage, ChunkStoreOptions options)
    : options_(std::move(options)),
      folders_(storage, options_.spill_folder),
      pool_(std::make_unique<Pool>(host_memory(), options_.memory_bytes / 8)) {}

bool ChunkStore::reserve(std::size_t bytes) {
  if (in_memory_.fetch_add(bytes) + bytes <= options_.memory_bytes) return true;
  in_memory_ -= bytes;
  return false;
}

void ChunkStore::add_index(std::size_t bytes) {
  if (const std::size_t now = index_ += bytes; now > options_.index_bytes) {
    index_ -= bytes;
    throw Error(Code::resource_exhausted,
                fmt::format("to know where the records lie that parts have handed over takes {} bytes, "
                            "24 for each partition of each chunk, and --memory leaves {} for that: "
                            "give more --memory, or fewer --partitions",
                            now, options_.index_bytes));
  }
  in_memory_ += bytes;
}

void ChunkStore::remove_index(std::size_t bytes) {
  index_ -= bytes;
  in_memory_ -= bytes;
}

void ChunkStore::count_spill(std::uint64_t bytes) {
  if (const auto now = on_disk_ += bytes; now > options_.spill_bytes) {
    on_disk_ -= bytes;
    throw Error(Code::resource_exhausted,
                fmt::format("{} bytes do not fit into '{}' any more: {} lie there, and --spill_bytes "
                            "allows {}; give more, or --memory",
                            bytes, options_.spill_folder, now - bytes, options_.spill_bytes));
  }
  spilled_ += bytes;
}

// What it counts in memory or on disk is counted already.
StoredChunkRef ChunkStore::make(Chunk chunk, bool in_memory, std::shared_ptr<ScratchFile> file,
                                std::uint64_t at) {
  const std::size_t size = in_memory ? chunk.bytes->size_bytes() : chunk.offsets.back();
  try {
    return std::make_shared<const StoredChunk>(shared_from_this(), std::move(chunk), in_memory,
                                               std::move(file), at);
  } catch (...) {
    if (in_memory)
      in_memory_ -= size;
    else
      count_unspill(size);
    throw;
  }
}

StoredChunkRef ChunkStore::keep(Chunk chunk, std::shared_ptr<ScratchFile>& file) {
  if (reserve(chunk.bytes->size_bytes())) return make(std::move(chunk), true, nullptr, 0);
  const std::uint64_t size = chunk.offsets.back();
  count_spill(size);
  std::uint64_t at = 0;
  try {
    if (!file) file = folders_.file();
    at = file->append(bytes_of(chunk));
  } catch (...) {
    count_unspill(size);
    throw;
  }
  return make(std::move(chunk), false, file, at);
}

StoredChunkRef ChunkStore::keep_written(Chunk chunk, std::shared_ptr<ScratchFile> file,
                                        std::uint64_t at) {
  const bool in_memory = reserve(chunk.bytes->size_bytes());
  if (!in_memory) count_spill(chunk.offsets.back());
  return make(std::move(chunk), in_memory, std::move(file), at);
}

}  // namespace actorflow
