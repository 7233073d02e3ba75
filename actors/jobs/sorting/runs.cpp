#include "actors/jobs/sorting/runs.h"

#include <fmt/format.h>

#include "dataflow/values/error.h"
#include "schema/formats/block_compression.h"
#include "schema/records/key.h"

namespace actorflow {
namespace {

[[noreturn]] void throw_changed(const Run::Block& block) {
  throw Error(Code::disk_error,
              fmt::format("what was put aside on disk has changed there: a block of {} bytes at {}",
                          block.stored_bytes, block.offset));
}

}  // namespace

void RunWriter::flush() {
  if (!shrinking_) shrinking_ = std::make_shared<BlocksWhereItPays>();
  const auto stored = shrinking_->shrunk(Compression::lz4, bytes_);
  run_.blocks.push_back(
      {part_.put_aside(stored), stored.size(), bytes_.size(), records_, hash_bytes(stored)});
  bytes_.clear();
  records_ = 0;
}

bool RunBlocks::next() {
  if (block_ == run_.blocks.size()) return false;
  part_->expect_wanted();
  const Run::Block& block = run_.blocks[block_++];
  bytes_.resize(block.bytes);
  if (block.stored_bytes == block.bytes) {
    read(block, bytes_);
    return true;
  }
  std::vector<std::byte> compressed(block.stored_bytes);  // not kept: runs are many
  read(block, compressed);
  if (!decompress_block(Compression::lz4, compressed, bytes_)) throw_changed(block);
  return true;
}

void RunBlocks::read(const Run::Block& block, std::span<std::byte> into) {
  part_->scratch().read(block.offset, into);
  part_->has_merged(into.size());
  if (hash_bytes(into) != block.checksum) throw_changed(block);
}

}  // namespace actorflow
