// Files of weights beside an ONNX model that hold zeros.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "schema/onnx/onnx.h"

namespace actorflow::test {

class ZeroWeights final : public OnnxWeights {
 public:
  explicit ZeroWeights(std::uint64_t bytes = 0) : size(bytes) {}

  std::uint64_t size_bytes(const std::string& file) override {
    names.push_back(file);
    return size;
  }
  void read(const std::string&, std::uint64_t, std::span<std::byte> into) override {
    std::memset(into.data(), 0, into.size());
  }

  std::uint64_t size;              // of every file
  std::vector<std::string> names;  // that were asked for
};

}  // namespace actorflow::test
