// Writes one file of a checkpoint: the tensors of one task.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/checkpoint/files/safetensors.h"
#include "actors/runtime/storage.h"
#include "schema/codec/checkpoint_codec.h"

namespace actorflow {

// A tensor to be saved, and its place in the whole model.
struct SavedTensor {
  std::string stored_name;  // in the file, unique there
  std::string name;         // of the whole tensor, of which this may be a slice
  std::string variable;     // as in Manifest::Entry, as are the rows
  std::int64_t first_row = 0;
  std::int64_t full_rows = -1;
  Tensor tensor;
};

// Writes in steps of about a block, so that the caller can do other things in between. The checksum of
// each block is computed while it is in the cache; nothing is copied. Not thread-safe. Throws what
// Storage throws; a file that is not committed is removed.
class CheckpointFileWriter {
 public:
  // Writes the header. Throws invalid_argument if two tensors have one stored name.
  CheckpointFileWriter(Storage& storage, const std::string& folder, const std::string& name,
                       std::int64_t global_step, std::vector<SavedTensor> tensors);

  // Writes some of the tensors; false when all are written. Releases each tensor after writing it.
  bool write_some();
  // Completes the file and returns its manifest. The last call.
  Manifest commit();

 private:
  std::span<const std::byte> next_block();

  Manifest manifest_;
  std::unique_ptr<SafetensorsFile> layout_;
  std::unique_ptr<NewFile> file_;
  std::size_t entry_ = 0;      // the entry that is being written
  std::uint64_t written_ = 0;  // of its bytes
};

}  // namespace actorflow
