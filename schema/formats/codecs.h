// Compressed streams, in pieces of any size: one interface to three libraries. For this folder only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "schema/formats/compression.h"

namespace actorflow {

class Decoder {
 public:
  struct Step {
    std::size_t taken = 0;  // bytes of the input
    std::size_t made = 0;   // bytes of the output
    bool ended = false;     // a member or frame did; the next call begins another one
    const char* error = nullptr;
  };
  virtual ~Decoder() = default;
  // Decodes as much as the input and the room in `to` allow.
  virtual Step decode(std::span<const std::byte> from, std::span<std::byte> to) = 0;
  // The most bytes into which one compressed byte can expand.
  virtual std::uint64_t most_bytes_of_one() const = 0;
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Compresses `from` and appends the output that is ready; with `last` all output, and the end of the
  // stream.
  virtual void encode(std::span<const std::byte> from, bool last, std::vector<std::byte>& to) = 0;
};

// The codecs. Throw resource_exhausted if there is no memory.
std::unique_ptr<Decoder> make_gzip_decoder();
std::unique_ptr<Decoder> make_zstd_decoder();
std::unique_ptr<Decoder> make_lz4_decoder();
std::unique_ptr<Encoder> make_gzip_encoder();
std::unique_ptr<Encoder> make_zstd_encoder();
std::unique_ptr<Encoder> make_lz4_encoder();

}  // namespace actorflow
