// The manifest of a checkpoint, which makes its files valid (checkpoint.capnp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataflow/dtype.h"
#include "dataflow/shape.h"

namespace actorflow {

struct Manifest {
  struct File {
    std::string name;
    std::uint64_t size_bytes = 0;
    std::uint64_t checksum = 0;  // of the whole file (checksum.h)
  };
  struct Entry {
    std::string name;
    DType dtype = DType::invalid;
    Shape shape;
    std::uint32_t file = 0;  // position in `files`
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t checksum = 0;  // of these bytes
  };

  std::int64_t global_step = 0;
  std::vector<File> files;
  std::vector<Entry> tensors;
};

// The content of a manifest file, with a checksum of itself.
std::vector<std::byte> encode_manifest(const Manifest& manifest);
// Throws data_loss unless the bytes are exactly what encode_manifest made, every bit of them, and
// every entry lies in its file; failed_precondition, naming both, for a version that is not known.
Manifest decode_manifest(std::span<const std::byte> bytes);

}  // namespace actorflow
