// ONNX models, with files of weights of zeros.
#include "schema/onnx/onnx.h"
#include "test/fuzz/support/target.h"
#include "test/schema/support/zero_weights.h"

using namespace actorflow;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::accepts([&] {
    test::ZeroWeights weights(1 << 16);
    const OnnxModel model = decode_onnx(fuzz::input(data, size), weights);
    const OnnxModel again = decode_onnx(encode_onnx(model).model, weights);
    fuzz::require(again.nodes.size() == model.nodes.size(), "nodes survive encoding");
    fuzz::require(again.initializers.size() == model.initializers.size(), "weights survive encoding");
  });
  return 0;
}
