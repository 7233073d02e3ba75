// Cap'n Proto messages as records: CapnpRecord<Order>, where a schema has a `struct Order`.
//
//   capnp::MallocMessageBuilder message;
//   message.initRoot<Order>().setItem("pens");
//   const CapnpRecord<Order> order(message.getRoot<Order>());
//   order.reader().getItem();
//
// This is the only header of records that includes Cap'n Proto, and no other header includes it. A
// program with such records includes the code that capnp has generated from their schema, which includes
// Cap'n Proto, too.
#pragma once

#include <capnp/any.h>
#include <capnp/generated-header-support.h>
#include <capnp/message.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/records/record.h"

namespace actorflow {
namespace detail {

// A message as one segment in canonical form, after a table of its segments. Only such words are read
// without further checks.
using MessageWords = std::vector<std::uint64_t>;

// Throws invalid_argument for a message with capabilities, or one that is nested deeper than 64 times.
MessageWords words_of(capnp::AnyStruct::Reader message);
// The words of a message that comes from outside. Throws data_loss if the bytes are no message.
MessageWords words_of_bytes(std::span<const std::byte> bytes);
MessageWords decode_words(RecordReader& from);
std::string message_layout(std::uint64_t type);

}  // namespace detail

// A record that owns its message. Equal messages have equal bytes. Copies copy the bytes. After it was
// moved from it may only be assigned to or destroyed.
template <class T>
class CapnpRecord {
 public:
  using Reader = typename T::Reader;

  CapnpRecord() : CapnpRecord(Reader()) {}  // all fields are their defaults
  // A copy. Throws invalid_argument for a message with capabilities, which mean nothing elsewhere, and
  // for one that is nested deeper than Cap'n Proto reads by default.
  explicit CapnpRecord(Reader message) : words_(detail::words_of(message)) {}
  explicit CapnpRecord(typename T::Builder message) : CapnpRecord(message.asReader()) {}
  // A message as capnp::messageToFlatArray() and writeMessage() make it, of a file for instance. Throws
  // data_loss if the bytes are none.
  static CapnpRecord of_bytes(std::span<const std::byte> bytes) {
    return CapnpRecord(detail::words_of_bytes(bytes));
  }
  static CapnpRecord of_bytes(std::string_view bytes) {
    return of_bytes(std::as_bytes(std::span(bytes)));
  }

  // Valid as long as the record. Thread-safe.
  Reader reader() const {
    return capnp::readMessageUnchecked<T>(reinterpret_cast<const capnp::word*>(words_.data() + 1));
  }
  // The message as of_bytes() takes it.
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

  bool operator==(const CapnpRecord&) const = default;

 private:
  friend struct detail::OwnCodec<CapnpRecord>;
  explicit CapnpRecord(detail::MessageWords message) : words_(std::move(message)) {}

  detail::MessageWords words_;
};

namespace detail {

template <class T>
constexpr RecordKind template_kind<CapnpRecord<T>> = RecordKind::own;

template <class T>
struct OwnCodec<CapnpRecord<T>> {
  static constexpr std::size_t least_bytes = 16;  // the table, and the pointer to the root
  static std::string layout() { return message_layout(capnp::typeId<T>()); }
  static std::size_t encoded_size(const CapnpRecord<T>& record) { return record.bytes().size(); }
  static std::byte* encode(const CapnpRecord<T>& record, std::byte* to) {
    std::memcpy(to, record.bytes().data(), record.bytes().size());
    return to + record.bytes().size();
  }
  static CapnpRecord<T> decode(RecordReader& from) { return CapnpRecord<T>(decode_words(from)); }
  static std::size_t heap_bytes(const CapnpRecord<T>& record) {
    return record.words_.capacity() * sizeof(std::uint64_t) + 16;  // and what the allocator takes
  }
};

}  // namespace detail
}  // namespace actorflow
