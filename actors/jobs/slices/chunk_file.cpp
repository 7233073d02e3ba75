#include "actors/jobs/slices/chunk_file.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <vector>

#include "dataflow/values/check.h"
#include "dataflow/values/error.h"
#include "schema/records/key.h"
#include "schema/records/record_codec.h"

namespace actorflow {
namespace {

struct Tail {
  std::uint64_t directory_bytes = 0, checksum = 0;
  char magic[8] = {'c', 'h', 'u', 'n', 'k', 's', ' ', '1'};
};
static_assert(sizeof(Tail) == 24);

}  // namespace

std::shared_ptr<ChunkFile> ChunkFile::create(Storage& storage, std::string path) {
  auto file = std::make_shared<ChunkFile>(storage, std::move(path));
  file->in_the_making_ = storage.create(file->path_);
  return file;
}

std::uint64_t ChunkFile::append(std::span<const std::byte> bytes) {
  ACTORFLOW_CHECK(in_the_making_ != nullptr, path_);
  in_the_making_->write(bytes);
  return std::exchange(end_, end_ + bytes.size());
}

void ChunkFile::commit(const StoredChunks& chunks) {
  std::vector<ChunkEntry> entries;
  for (const auto& chunk : chunks) entries.push_back(chunk->entry());
  std::vector<std::byte> directory(encoded_size(entries));
  encode(entries, directory.data());
  append(directory);
  const Tail tail{directory.size(), hash_bytes(directory)};
  append(std::as_bytes(std::span(&tail, 1)));
  in_the_making_->commit();
  in_the_making_.reset();
}

std::shared_ptr<OpenFile> ChunkFile::opened() {
  const std::lock_guard lock(mutex_);
  if (!file_) file_ = storage_.open(path_);
  return file_;
}

void ChunkFile::read(std::uint64_t offset, std::span<std::byte> into) {
  ACTORFLOW_CHECK(!in_the_making_, path_);
  opened()->read(offset, into);
}

void ChunkFile::throw_not_whole(const char* what) const {
  throw Error(Code::data_loss, fmt::format("'{}' is not what was written: {}", path_, what));
}

std::vector<ChunkEntry> ChunkFile::directory() {
  const std::uint64_t size = opened()->size_bytes();
  if (size < sizeof(Tail)) throw_not_whole("it ends too early");
  Tail tail;
  read(size - sizeof tail, std::as_writable_bytes(std::span(&tail, 1)));
  if (std::memcmp(tail.magic, Tail{}.magic, sizeof tail.magic) != 0) throw_not_whole("its end");
  if (tail.directory_bytes > size - sizeof tail) throw_not_whole("the size of its directory");
  std::vector<std::byte> bytes(tail.directory_bytes);
  read(size - sizeof tail - bytes.size(), bytes);
  if (hash_bytes(bytes) != tail.checksum) throw_not_whole("its directory");
  RecordReader reader(bytes);
  return decode<std::vector<ChunkEntry>>(reader);
}

Chunk ChunkFile::chunk_at(const ChunkEntry& entry, Allocator& allocator) {
  const std::uint64_t size = entry.offsets.back();
  Chunk chunk{allocator.allocate(size), entry.offsets, entry.records};
  read(entry.at, {static_cast<std::byte*>(chunk.bytes->data()), size});
  return chunk;
}

StoredChunks ChunkFile::load(Storage& storage, std::string path, ChunkStore& store) {
  const auto file = std::make_shared<ChunkFile>(storage, std::move(path));
  StoredChunks chunks;
  for (const auto& entry : file->directory()) {
    chunks.push_back(store.keep_written(file->chunk_at(entry, store.allocator()), file, entry.at));
    if (chunks.back()->entry().checksums != entry.checksums) file->throw_not_whole("a slice");
  }
  file->file_.reset();
  return chunks;
}

}  // namespace actorflow
