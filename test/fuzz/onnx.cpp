// ONNX models, with files of weights of zeros.
#include "schema/onnx/onnx.h"
#include "test/fuzz/support/target.h"

using namespace actorflow;

namespace {

class Zeros final : public OnnxWeights {
 public:
  std::uint64_t size_bytes(const std::string&) override { return 1 << 16; }
  void read(const std::string&, std::uint64_t, std::span<std::byte> into) override {
    std::memset(into.data(), 0, into.size());
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::accepts([&] {
    Zeros weights;
    const OnnxModel model = decode_onnx(fuzz::input(data, size), weights);
    const OnnxModel again = decode_onnx(encode_onnx(model).model, weights);
    fuzz::require(again.nodes.size() == model.nodes.size(), "nodes survive encoding");
    fuzz::require(again.initializers.size() == model.initializers.size(), "weights survive encoding");
  });
  return 0;
}
