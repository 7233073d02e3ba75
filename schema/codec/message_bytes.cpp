#include "schema/codec/message_bytes.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <kj/io.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "dataflow/graph/op.h"
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

// Bytes as the words that Cap'n Proto reads: copied where they do not lie as such.
class AlignedWords {
 public:
  explicit AlignedWords(std::span<const std::byte> bytes) {
    const std::size_t size = bytes.size() / sizeof(capnp::word);
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(capnp::word) == 0) {
      words_ = kj::arrayPtr(reinterpret_cast<const capnp::word*>(bytes.data()), size);
      return;
    }
    copy_ = kj::heapArray<capnp::word>(size);
    std::memcpy(copy_.begin(), bytes.data(), size * sizeof(capnp::word));
    words_ = copy_;
  }

  kj::ArrayPtr<const capnp::word> get() const { return words_; }

 private:
  kj::Array<capnp::word> copy_;
  kj::ArrayPtr<const capnp::word> words_;
};

}  // namespace

std::vector<std::byte> encode_message(const Message& message) {
  // Most messages fit into it. A builder wants its first segment zeroed, and leaves it so.
  static thread_local std::array<capnp::word, 256> first_segment{};
  capnp::MallocMessageBuilder builder(kj::arrayPtr(first_segment.data(), first_segment.size()));
  BufferKeeper keeper;
  std::uint64_t next_transfer = 1;
  TensorWriter tensors(builder.getOrphanage(), keeper, next_transfer, everything);
  write_message(message, tensors, builder.initRoot<wire::Envelope>());
  std::vector<std::byte> bytes(capnp::computeSerializedSizeInWords(builder) * sizeof(capnp::word));
  kj::ArrayOutputStream stream(kj::arrayPtr(reinterpret_cast<kj::byte*>(bytes.data()), bytes.size()));
  capnp::writeMessage(stream, builder);
  return bytes;
}

Message decode_message(std::span<const std::byte> bytes, const OpRegistry& ops, Allocator& allocator) {
  try {
    const AlignedWords words(bytes);
    capnp::ReaderOptions options;
    options.traversalLimitInWords = words.get().size() * 8 + 64;  // as GuardedStream has it
    capnp::FlatArrayMessageReader reader(words.get(), options);
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
