// Reads tensors, or rows of them, from the files of a checkpoint, and checks every byte that it reads.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/runtime/storage.h"
#include "dataflow/values/tensor.h"
#include "schema/codec/checkpoint_codec.h"

namespace actorflow {

// Rows [first_row, first_row + rows) of a tensor; rows -1: all of it.
struct TensorRange {
  std::string name;
  std::int64_t first_row = 0;
  std::int64_t rows = -1;
};

// The pieces of a manifest's tensors by name, in the order of their rows.
using PiecesByName = std::map<std::string, std::vector<const Manifest::Entry*>, std::less<>>;
PiecesByName pieces_by_name(const Manifest& manifest);
// The shape of the whole tensor of these pieces.
Shape whole_shape(const std::vector<const Manifest::Entry*>& pieces);

// Reads in steps of about a block, so that the caller can do other things in between. Reads only the
// blocks with wanted rows, straight into the tensor if all of a block is wanted. All files are opened at
// once and stay readable if the checkpoint is removed meanwhile. Not thread-safe. Throws what Storage
// throws, and data_loss, naming the file, for bytes that differ from the saved ones.
class CheckpointReader {
 public:
  // Throws not_found for a tensor that the checkpoint does not have, and data_loss for rows.
  CheckpointReader(Storage& storage, const std::string& folder, Manifest manifest,
                   const std::vector<TensorRange>& ranges);
  CheckpointReader(const CheckpointReader&) = delete;
  CheckpointReader& operator=(const CheckpointReader&) = delete;

  // Reads some of the bytes; false when all have been read.
  bool read_some();
  // Reads what is left.
  void read_all() {
    while (read_some()) {
    }
  }
  // The tensors in the order of the ranges; the last call.
  std::vector<Tensor> take();

 private:
  // Bytes of one piece that go to consecutive bytes of a target.
  struct Copy {
    const Manifest::Entry* from = nullptr;
    std::size_t to = 0;                // the target
    std::uint64_t begin = 0, end = 0;  // in the piece
    std::uint64_t to_offset = 0;
  };
  struct Target {
    DType dtype = DType::invalid;
    Shape shape;
    Tensor tensor;
    std::vector<std::byte> packed;  // strings, until all have been read
  };

  void plan(const TensorRange& range, const PiecesByName& pieces);
  void plan_rows(const TensorRange& range, const std::vector<const Manifest::Entry*>& pieces);
  OpenFile& file_of(const Manifest::Entry& entry);
  void read_block(const Copy& copy, std::uint64_t block);
  std::span<std::byte> bytes_of(Target& target);

  Storage& storage_;
  std::string folder_;
  Manifest manifest_;
  std::map<std::uint32_t, std::unique_ptr<OpenFile>> files_;
  std::deque<Copy> copies_;  // that are left
  std::vector<Target> targets_;
  std::vector<std::byte> scratch_;
};

}  // namespace actorflow
