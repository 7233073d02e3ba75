// The chunks of a part in a file of their own, which outlives the process.
//
//   file      := chunk* directory tail
//   chunk     := the bytes of its slices, one behind the other
//   directory := a vector of ChunkEntry, as a record
//   tail      := bytes of the directory, their XXH3, "chunks 1": 8 bytes each, little-endian
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/jobs/slices/kept_records.h"
#include "actors/runtime/storage.h"

namespace actorflow {

// A file that is written, committed, and then read. Written by one thread, read by any. The file is open
// while it is written, and again from the first read() on: there may be more parts with their chunks in
// memory than a process may have open files.
class ChunkFile final : public ScratchFile {
 public:
  // Begins a new file, which gets its name at commit() and is removed without that.
  static std::shared_ptr<ChunkFile> create(Storage& storage, std::string path);
  // The chunks in a file that an earlier attempt has committed. Throws data_loss if they are not what
  // was written, and the disk's errors.
  static StoredChunks load(Storage& storage, std::string path, ChunkStore& store);

  ChunkFile(Storage& storage, std::string path) : storage_(storage), path_(std::move(path)) {}
  // REQUIRES: before commit().
  std::uint64_t append(std::span<const std::byte> bytes) override;
  // Writes the directory of `chunks`, all of which lie in the file. From here on it survives any crash.
  void commit(const StoredChunks& chunks);
  // REQUIRES: after commit().
  void read(std::uint64_t offset, std::span<std::byte> into) override;

 private:
  std::shared_ptr<OpenFile> opened();
  std::vector<ChunkEntry> directory();
  Chunk chunk_at(const ChunkEntry& entry, Allocator& allocator);
  [[noreturn]] void throw_not_whole(const char* what) const;

  Storage& storage_;
  const std::string path_;
  std::unique_ptr<NewFile> in_the_making_;
  std::uint64_t end_ = 0;
  std::mutex mutex_;
  std::shared_ptr<OpenFile> file_;
};

}  // namespace actorflow
