#include "schema/formats/block_compression.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

#include "dataflow/values/check.h"

namespace actorflow {
namespace {

constexpr std::size_t try_again_after = 15;
constexpr std::size_t tiny_bytes = 256;
constexpr int zstd_level = 1;

int int_size(std::span<const std::byte> bytes) {
  return static_cast<int>(std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max()));
}

std::size_t compress_lz4(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.size() > LZ4_MAX_INPUT_SIZE) return 0;
  return static_cast<std::size_t>(LZ4_compress_default(reinterpret_cast<const char*>(from.data()),
                                                       reinterpret_cast<char*>(to.data()),
                                                       int_size(from), int_size(to)));
}

bool decompress_lz4(std::span<const std::byte> from, std::span<std::byte> to) {
  const int size = LZ4_decompress_safe(reinterpret_cast<const char*>(from.data()),
                                       reinterpret_cast<char*>(to.data()), int_size(from), int_size(to));
  return size >= 0 && static_cast<std::size_t>(size) == to.size();
}

std::size_t compress_zstd(std::span<const std::byte> from, std::span<std::byte> to) {
  const std::size_t size = ZSTD_compress(to.data(), to.size(), from.data(), from.size(), zstd_level);
  return ZSTD_isError(size) != 0 ? 0 : size;
}

bool decompress_zstd(std::span<const std::byte> from, std::span<std::byte> to) {
  return ZSTD_decompress(to.data(), to.size(), from.data(), from.size()) == to.size();
}

}  // namespace

bool compresses_blocks(Compression kind) { return most_growth(kind) > 0; }

std::size_t compress_block(Compression kind, std::span<const std::byte> from, std::span<std::byte> to) {
  ACTORFLOW_CHECK(compresses_blocks(kind), static_cast<int>(kind));
  return kind == Compression::zstd ? compress_zstd(from, to) : compress_lz4(from, to);
}

bool decompress_block(Compression kind, std::span<const std::byte> from, std::span<std::byte> to) {
  if (!compresses_blocks(kind)) return false;
  return kind == Compression::zstd ? decompress_zstd(from, to) : decompress_lz4(from, to);
}

std::uint64_t most_growth(Compression kind) {
  if (kind == Compression::lz4) return 255;
  if (kind == Compression::zstd) return 32768;  // a block of one repeated byte: 128 KiB of 4 bytes
  return 0;
}

std::span<const std::byte> BlocksWhereItPays::shrunk(Compression kind,
                                                     std::span<const std::byte> block) {
  if (block.size() < tiny_bytes || !compresses_blocks(kind)) return block;
  if (!pays_ && left_alone_ < try_again_after) {
    ++left_alone_;
    return block;
  }
  memory_.resize(block.size() / 5 * 4);
  const std::size_t size = compress_block(kind, block, memory_);
  left_alone_ = 0;
  pays_ = size > 0;
  return pays_ ? std::span<const std::byte>(memory_).first(size) : block;
}

}  // namespace actorflow
