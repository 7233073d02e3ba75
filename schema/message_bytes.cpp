#include "schema/message_bytes.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <cstring>

#include "dataflow/op.h"
#include "schema/codec/message_codec.h"
#include "schema/codec/tensor_codec.h"
#include "schema/codec/transfer.h"

namespace actorflow {
namespace {

constexpr TensorLimits everything{std::size_t{512} << 20, std::size_t{512} << 20, false};

// Its name without namespaces, as both compilers spell it: "... [with M = actorflow::RunGraph; ...".
template <class M>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("M = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

}  // namespace

std::vector<std::byte> encode_message(const Message& message) {
  capnp::MallocMessageBuilder builder;
  BufferKeeper keeper;
  std::uint64_t next_transfer = 1;
  TensorWriter tensors(builder.getOrphanage(), keeper, next_transfer, everything);
  write_message(message, tensors, builder.initRoot<wire::Envelope>());
  const auto words = capnp::messageToFlatArray(builder);
  const auto bytes = words.asBytes();
  std::vector<std::byte> result(bytes.size());
  std::memcpy(result.data(), bytes.begin(), bytes.size());
  return result;
}

Message decode_message(std::span<const std::byte> bytes, const OpRegistry& ops, Allocator& allocator) {
  try {
    // Cap'n Proto reads words: the bytes must lie as such.
    auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
    std::memcpy(words.begin(), bytes.data(), words.size() * sizeof(capnp::word));
    capnp::ReaderOptions options;
    options.traversalLimitInWords = words.size() * 8 + 64;  // as GuardedStream has it
    capnp::FlatArrayMessageReader reader(words, options);
    TransferReceiver no_transfers(allocator, 0);
    TensorReader tensors(allocator, no_transfers);
    return read_message(reader.getRoot<wire::Envelope>(), tensors, ops);
  } catch (const kj::Exception& exception) {
    throw invalid_argument(std::string("a message cannot be decoded: ") +
                           exception.getDescription().cStr());
  }
}

std::string_view name_of(const Message& message) {
  return std::visit([]<class M>(const M&) { return type_name<M>(); }, message);
}

}  // namespace actorflow
