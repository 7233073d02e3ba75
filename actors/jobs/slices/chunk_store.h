// The chunks of records that stages hand to later ones: in memory as far as the limit allows, else on
// disk.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/jobs/slices/scratch_folders.h"
#include "actors/runtime/storage.h"
#include "dataflow/values/buffer.h"
#include "kernels/shuffle/partition_buffer.h"

namespace actorflow {

class ChunkStore;

// The bytes of all slices of a chunk.
std::span<const std::byte> bytes_of(const Chunk& chunk);

// A chunk in a file: slice p lies from at + offsets[p] to at + offsets[p + 1].
struct ChunkEntry {
  std::uint64_t at = 0;
  std::vector<std::uint64_t> offsets, records, checksums;
};

// A chunk that is kept. The slice of a partition is its records, one behind the other. Thread-safe.
class StoredChunk {
 public:
  // The chunk's bytes lie in the file from `at` on, or in memory and perhaps in the file, too.
  StoredChunk(std::shared_ptr<ChunkStore> store, Chunk chunk, bool in_memory,
              std::shared_ptr<ScratchFile> file, std::uint64_t at);
  ~StoredChunk();
  StoredChunk(const StoredChunk&) = delete;
  StoredChunk& operator=(const StoredChunk&) = delete;

  std::size_t partitions() const { return records_.size(); }
  std::size_t slice_bytes(std::size_t partition) const {
    return offsets_[partition + 1] - offsets_[partition];
  }
  std::uint64_t records(std::size_t partition) const { return records_[partition]; }
  // XXH3 of the slice.
  std::uint64_t checksum(std::size_t partition) const { return checksums_[partition]; }
  bool in_memory() const { return bytes_.get() != nullptr; }
  // The slice of a partition; empty if the chunk is on disk.
  std::span<const std::byte> slice(std::size_t partition) const;
  // Reads a slice from disk. Throws data_loss if the disk gives back something else than was written.
  void read(std::size_t partition, std::span<std::byte> into) const;
  // The chunk's entry in the directory of its file.
  ChunkEntry entry() const { return {at_, offsets_, records_, checksums_}; }

 private:
  // Of what says where the slices lie, which is in memory in any case.
  std::size_t index_bytes() const;

  const std::shared_ptr<ChunkStore> store_;
  BufferRef bytes_;  // none: on disk
  const std::size_t size_bytes_;
  const std::vector<std::uint64_t> offsets_;
  const std::vector<std::uint64_t> records_;
  std::vector<std::uint64_t> checksums_;
  const std::shared_ptr<ScratchFile> file_;
  const std::uint64_t at_;
};
using StoredChunkRef = std::shared_ptr<const StoredChunk>;

struct ChunkStoreOptions {
  std::size_t memory_bytes = 0;
  std::string spill_folder;                       // or several with commas between them
  std::uint64_t spill_bytes = ~std::uint64_t{0};  // what may lie on disk at once, in all of them
  std::size_t index_bytes = ~std::size_t{0};      // what may say where all slices lie
};

// Keeps chunks within limits of memory and disk. Thread-safe. Made by std::make_shared, since its chunks
// keep it alive.
class ChunkStore : public std::enable_shared_from_this<ChunkStore> {
 public:
  ChunkStore(Storage& storage, ChunkStoreOptions options);

  // Keeps a chunk: in memory or, above the limit, in `file`, which is made when it is first needed.
  // Throws the disk's errors, and resource_exhausted above the quota of the disk, or where the index of
  // all chunks takes too much memory.
  StoredChunkRef keep(Chunk chunk, std::shared_ptr<ScratchFile>& file);
  // Keeps a chunk whose bytes are in the file already, from `at` on; and in memory, too, if the limit
  // allows.
  StoredChunkRef keep_written(Chunk chunk, std::shared_ptr<ScratchFile> file, std::uint64_t at);
  // A file for what a part puts aside, in one of the folders (scratch_folders.h).
  std::unique_ptr<ScratchFile> scratch() { return folders_.file(); }
  // Counts what is written to disk; throws resource_exhausted above the quota.
  void count_spill(std::uint64_t bytes);
  void count_unspill(std::uint64_t bytes) { on_disk_ -= bytes; }

  // The allocator for chunks. It keeps some freed blocks for the next ones.
  Allocator& allocator() { return *pool_; }
  // The bytes of chunks that are in memory, and of the indices of all.
  std::size_t memory_in_use() const { return in_memory_; }
  // The bytes that the whole job has written to disk so far.
  std::uint64_t spilled_bytes() const { return spilled_; }

 private:
  friend class StoredChunk;
  bool reserve(std::size_t bytes);
  void add_index(std::size_t bytes);
  void remove_index(std::size_t bytes);
  StoredChunkRef make(Chunk chunk, bool in_memory, std::shared_ptr<ScratchFile> file, std::uint64_t at);

  const ChunkStoreOptions options_;
  ScratchFolders folders_;
  const std::unique_ptr<Allocator> pool_;
  std::atomic<std::size_t> in_memory_{0}, index_{0};
  std::atomic<std::uint64_t> on_disk_{0}, spilled_{0};
};

}  // namespace actorflow
