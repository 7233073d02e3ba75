// Targets that read Cap'n Proto messages.
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <vector>

#include "schema/codec/tensor_codec.h"
#include "schema/codec/transfer.h"
#include "test/fuzz/support/target.h"

namespace actorflow::fuzz {

inline kj::Array<capnp::word> to_words(Input bytes) {
  auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
  if (words.size() > 0) std::memcpy(words.begin(), bytes.data(), words.asBytes().size());
  return words;
}

// As accepts(), but also takes Cap'n Proto's exception for bytes that it cannot read as a refusal.
template <class Body>
bool reads(Body&& body) {
  try {
    return accepts(std::forward<Body>(body));
  } catch (const kj::Exception&) {
    return false;
  }
}

// The bytes of a value that `write(TensorWriter&, builder)` writes, all of it inline.
template <class Root, class Write>
std::vector<std::byte> encode(Write&& write) {
  capnp::MallocMessageBuilder message;
  BufferKeeper keeper;
  std::uint64_t next_transfer = 1;
  TensorWriter tensors(message.getOrphanage(), keeper, next_transfer, only_inline);
  write(tensors, message.initRoot<Root>());
  const auto words = capnp::messageToFlatArray(message);
  const auto bytes = std::as_bytes(std::span(words.begin(), words.size()));
  return {bytes.begin(), bytes.end()};
}

}  // namespace actorflow::fuzz
