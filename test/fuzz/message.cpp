// Messages between tasks (Envelope of worker.capnp), with the ops of the kernels.
#include "kernels/core/kernel.h"
#include "schema/codec/message_bytes.h"
#include "test/fuzz/support/target.h"

using namespace actorflow;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto& ops = builtin_ops().registry();
  fuzz::accepts([&] {
    const Message message = decode_message(fuzz::input(data, size), ops, heap());
    const auto bytes = encode_message(message);
    const auto again = encode_message(decode_message(bytes, ops, heap()));
    fuzz::require(bytes == again && !name_of(message).empty(), "a message survives being sent");
  });
  return 0;
}
