// The safetensors file format, for writing (https://huggingface.co/docs/safetensors):
//
//   file   := length header data
//   length := u64, little-endian: bytes of the header
//   header := JSON: {"name": {"dtype": "F32", "shape": [2,3], "data_offsets": [begin, end]}, ...}
//   data   := the tensors' bytes in the order of their offsets, without holes
//
// The format has no strings: a tensor of them is written as U8, each string as its length (u64,
// little-endian) and its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dataflow/values/tensor.h"

namespace actorflow {

// The layout of a file to be written. Refers to the tensors' bytes and keeps them alive.
class SafetensorsFile {
 public:
  // `metadata` is stored in the header. REQUIRES: tensors are valid and on the host.
  SafetensorsFile(const std::map<std::string, Tensor>& tensors,
                  const std::map<std::string, std::string>& metadata);
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  struct Entry {
    std::string name;
    Tensor tensor;
    std::uint64_t offset = 0;  // from the start of the file
    std::span<const std::byte> bytes;
  };
  // The tensors in the order of their offsets.
  const std::vector<Entry>& entries() const { return entries_; }
  // The bytes before the tensors: length and header.
  std::span<const std::byte> header() const { return std::as_bytes(std::span(header_)); }
  std::uint64_t size_bytes() const { return size_bytes_; }
  // Releases a tensor that has been written; its bytes must not be used afterwards.
  void release(std::size_t entry);

 private:
  std::list<std::vector<std::byte>> packed_;  // of string tensors
  std::vector<Entry> entries_;
  std::string header_;
  std::uint64_t size_bytes_ = 0;
};

// The tensor with these bytes of a file. Throws data_loss if they do not fit the type.
Tensor unpack_tensor(DType dtype, const Shape& shape, std::span<const std::byte> bytes);

}  // namespace actorflow
