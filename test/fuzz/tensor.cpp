// Tensors (tensor.capnp): messages one after the other, of which the last is a Tensor and those before it
// are chunks of transfers.
#include "test/fuzz/support/capnp.h"

using namespace actorflow;

namespace {

constexpr std::size_t max_incoming_bytes = std::size_t{1} << 20;

Tensor read(fuzz::Input bytes) {
  const auto words = fuzz::to_words(bytes);
  auto left = words.asPtr().asConst();
  TransferReceiver transfers(heap(), max_incoming_bytes);
  TensorReader tensors(heap(), transfers);
  while (true) {
    capnp::ReaderOptions options;
    options.traversalLimitInWords = left.size() * 8 + 64;
    capnp::FlatArrayMessageReader message(left, options);
    left = kj::arrayPtr(message.getEnd(), left.end());
    if (left.size() == 0) return tensors.read(message.getRoot<wire::Tensor>());
    transfers.put(message.getRoot<wire::TensorChunk>());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::reads([&] {
    const Tensor tensor = read(fuzz::input(data, size));
    const auto bytes = fuzz::encode<wire::Tensor>(
        [&](TensorWriter& tensors, wire::Tensor::Builder to) { tensors.write(tensor, to); });
    fuzz::require(identical(tensor, read(bytes)), "a tensor survives being sent");
  });
  return 0;
}
