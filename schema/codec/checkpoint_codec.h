// The manifest of a checkpoint, which makes its files valid (checkpoint.capnp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataflow/values/dtype.h"
#include "dataflow/values/shape.h"

namespace actorflow {

struct Manifest {
  struct File {
    std::string name;
    std::uint64_t size_bytes = 0;
    std::uint64_t header_bytes = 0;     // in front of the tensors
    std::uint64_t header_checksum = 0;  // checksum.h
  };
  // A tensor, or a slice of one along axis 0.
  struct Entry {
    std::string name;
    std::string variable;  // the owner of an optimizer slot; empty for the value of a variable
    DType dtype = DType::invalid;
    Shape shape;                  // of the stored rows
    std::int64_t first_row = 0;   // of the slice in the whole tensor
    std::int64_t full_rows = -1;  // of the whole tensor; -1 if this is all of it
    std::uint32_t file = 0;       // position in `files`
    std::uint64_t offset = 0;     // from the start of the file
    std::uint64_t size_bytes = 0;
    std::vector<std::uint64_t> checksums;  // of each block

    std::int64_t rows() const { return shape.rank() > 0 ? shape[0] : 1; }
  };

  std::int64_t global_step = 0;
  std::int64_t saved_at_s = 0;  // since 1970
  std::uint64_t block_bytes = std::uint64_t{1} << 20;
  // Whether every variable, with its slots, has had exactly the updates of the steps up to global_step.
  // False where that is not known: in asynchronous training.
  bool one_step = false;
  std::vector<File> files;
  std::vector<Entry> tensors;
};

// The content of a manifest file, with a checksum of itself.
std::vector<std::byte> encode_manifest(const Manifest& manifest);
// The inverse. Throws data_loss if any bit differs from what encode_manifest() made, or an entry does
// not lie behind the header of its file; failed_precondition, naming both versions, for an unknown
// version.
Manifest decode_manifest(std::span<const std::byte> bytes);

}  // namespace actorflow
