// The tensors of an ONNX model from its file, which may come from anywhere. For decode.cpp only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "schema/onnx/onnx.h"
#include "schema/onnx/onnx.pb.h"

namespace actorflow {

// Throws data_loss: the model is damaged so.
[[noreturn]] void damaged_onnx(const std::string& what);

// Takes no more memory than there are bytes in the files. Not thread-safe.
class OnnxTensors {
 public:
  explicit OnnxTensors(OnnxWeights& weights) : weights_(weights) {}

  // Throws data_loss if it is no whole tensor, unimplemented if its dtype or rank is not there, and what
  // `weights` throws.
  Tensor decode(const onnx::TensorProto& in);

 private:
  // Where a tensor is in a file of weights: its name, and the place and number of its bytes.
  using Place = std::tuple<std::string, std::uint64_t, std::uint64_t>;
  struct File {
    std::uint64_t size_bytes = 0;
    std::uint64_t taken_bytes = 0;  // by tensors, together
  };

  Tensor decode_external(const onnx::TensorProto& in, DType dtype, const Shape& shape);
  Place place_of(const onnx::TensorProto& in, std::uint64_t bytes);
  void take(const Place& place);

  OnnxWeights& weights_;
  std::map<Place, Tensor> external_;  // weights that tensors share are read once
  std::map<std::string, File> files_;
};

}  // namespace actorflow
