#include "schema/records/capnp_record.h"

#include <capnp/serialize.h>
#include <kj/exception.h>

#include <algorithm>
#include <charconv>

#include "dataflow/values/error.h"
#include "schema/records/record_codec.h"

namespace actorflow::detail {
namespace {

using Words = kj::ArrayPtr<const capnp::word>;

Words as_words(const MessageWords& words) {
  return {reinterpret_cast<const capnp::word*>(words.data()), words.size()};
}

// A message is traversed twice at most. A list whose elements take no bytes counts a word for each
// element.
capnp::ReaderOptions options_for(std::size_t words) {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = std::max<std::uint64_t>(options.traversalLimitInWords, 2 * words);
  return options;
}

// Whether the words are canonical. Traverses all of them, and so checks that each pointer stays within
// the message: throws kj::Exception for one that does not.
bool is_canonical(const MessageWords& words) {
  capnp::FlatArrayMessageReader reader(as_words(words), options_for(words.size()));
  return reader.isCanonical();
}

std::string reason(const kj::Exception& exception) { return exception.getDescription().cStr(); }

// Throws kj::Exception.
MessageWords canonical(capnp::AnyStruct::Reader message) {
  const kj::Array<capnp::word> made = message.canonicalize();
  MessageWords words(made.size() + 1);
  const std::uint32_t table[] = {0, static_cast<std::uint32_t>(made.size())};
  std::memcpy(words.data(), table, sizeof table);
  std::memcpy(words.data() + 1, made.begin(), made.size() * sizeof(capnp::word));
  if (!is_canonical(words)) throw Error(Code::internal, "a canonical message is not canonical");
  return words;
}

}  // namespace

MessageWords words_of(capnp::AnyStruct::Reader message) {
  try {
    return canonical(message);
  } catch (const kj::Exception& exception) {
    throw invalid_argument("a Cap'n Proto message that cannot be a record: " + reason(exception));
  }
}

MessageWords words_of_bytes(std::span<const std::byte> bytes) {
  const auto fail = [&](const std::string& why) {
    throw Error(Code::data_loss, "expected a Cap'n Proto message in " + std::to_string(bytes.size()) +
                                     " bytes, but " + why);
  };
  if (bytes.size() % sizeof(capnp::word) != 0) fail("these are no whole words of 8 bytes");
  MessageWords words(bytes.size() / sizeof(capnp::word));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  try {
    capnp::FlatArrayMessageReader reader(as_words(words), options_for(words.size()));
    if (reader.getEnd() != as_words(words).end()) fail("it does not end where they do");
    return canonical(reader.getRoot<capnp::AnyStruct>());
  } catch (const kj::Exception& exception) {
    fail(reason(exception));
  }
  return {};
}

MessageWords decode_words(RecordReader& from) {
  std::uint32_t table[2];
  std::memcpy(table, take(from, sizeof table, "bytes of a message's table of segments"), sizeof table);
  const auto [others, size] = table;
  if (others != 0) throw_bad_record(from, "a Cap'n Proto message of one segment, by the 8 bytes before");
  const std::size_t size_bytes = sizeof(std::uint64_t) * size;
  const std::byte* bytes = take(from, size_bytes, "bytes of a Cap'n Proto message");
  MessageWords words(std::size_t{size} + 1);
  std::memcpy(words.data(), table, sizeof table);
  std::memcpy(words.data() + 1, bytes, size_bytes);
  try {
    if (!is_canonical(words)) throw_bad_record(from, "a canonical Cap'n Proto message before");
  } catch (const kj::Exception& exception) {
    throw_bad_record(from, ("a whole Cap'n Proto message before: " + reason(exception)).c_str());
  }
  return words;
}

std::string message_layout(std::uint64_t type) {
  char digits[16];
  return "message<" + std::string(digits, std::to_chars(digits, digits + sizeof digits, type, 16).ptr) +
         ">";
}

}  // namespace actorflow::detail
