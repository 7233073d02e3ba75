// Cap'n Proto messages as records: what comes back, and bytes that are none.
#include <capnp/serialize.h>

#include <boost/test/unit_test.hpp>

#include "dataflow/values/error.h"
#include "schema/records/capnp_record.h"
#include "schema/records/heap_bytes.h"
#include "schema/records/record_codec.h"
#include "schema/records/stored_record.h"
#include "test/support/order.capnp.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(message_records)

using namespace actorflow;
using test::Order;
using OrderRecord = CapnpRecord<Order>;

namespace {

using Bytes = std::vector<std::byte>;

struct Delivery {
  std::string_view street;
  OrderRecord order;
  std::optional<OrderRecord> returned;
};

void fill(Order::Builder order, unsigned number, unsigned items = 3) {
  order.setNumber(number);
  order.setCustomer("customer " + std::to_string(number));
  auto list = order.initItems(items);
  for (unsigned i = 0; i < items; ++i) {
    list[i].setName("item " + std::to_string(i));
    list[i].setPrice(i * 0.5);
  }
}

OrderRecord order_of(unsigned number, unsigned items = 3) {
  capnp::MallocMessageBuilder message;
  fill(message.initRoot<Order>(), number, items);
  return OrderRecord(message.getRoot<Order>());
}

// Nested so many times.
OrderRecord nested(int depth) {
  capnp::MallocMessageBuilder message;
  auto order = message.initRoot<Order>();
  for (int i = 1; i < depth; ++i) order = order.initEarlier();
  order.setNumber(1);
  return OrderRecord(message.getRoot<Order>());
}

template <Record T>
Bytes encoded(const T& record) {
  Bytes bytes(encoded_size(record));
  BOOST_TEST(encode(record, bytes.data()) == bytes.data() + bytes.size());
  return bytes;
}

template <Record T>
T decoded(const Bytes& bytes) {
  RecordReader reader(bytes);
  T record = decode<T>(reader);
  BOOST_TEST(reader.empty());
  return record;
}

void expect_refused(const Bytes& bytes, const std::string& expected) {
  const Status status = test::status_of([&] { decoded<OrderRecord>(bytes); });
  BOOST_TEST((status.code == Code::data_loss), status.to_string());
  BOOST_TEST(status.message.find(expected) != status.message.npos, status.message);
}

std::string text(capnp::MessageBuilder& message) {
  const auto words = capnp::messageToFlatArray(message);
  const auto chars = words.asChars();
  return {chars.begin(), chars.size()};
}

Bytes of_words(std::initializer_list<std::uint64_t> words) {
  Bytes bytes(words.size() * 8);
  std::memcpy(bytes.data(), std::data(words), bytes.size());
  return bytes;
}

std::uint64_t table(std::uint64_t words, std::uint64_t other_segments = 0) {
  return words << 32 | other_segments;
}

}  // namespace

BOOST_AUTO_TEST_CASE(messages_are_what_was_built) {
  const OrderRecord order = order_of(7);
  BOOST_TEST(order.reader().getNumber() == 7u);
  BOOST_TEST(std::string(order.reader().getCustomer().cStr()) == "customer 7");
  BOOST_TEST(order.reader().getItems().size() == 3u);
  BOOST_TEST(order.reader().getItems()[2].getPrice() == 1.0);
  BOOST_TEST(order.reader().getPaid());
  BOOST_TEST(OrderRecord().reader().getPaid());
  BOOST_TEST(OrderRecord().reader().getItems().size() == 0u);
  BOOST_TEST(nested(50).reader().getEarlier().getEarlier().hasEarlier());
}

BOOST_AUTO_TEST_CASE(messages_survive_the_round_trip_alone_and_as_fields) {
  for (const auto& order : {order_of(7), OrderRecord(), order_of(0, 1000), nested(50)}) {
    const Bytes bytes = encoded(order);
    BOOST_TEST((decoded<OrderRecord>(bytes) == order));
    BOOST_TEST((encoded(decoded<OrderRecord>(bytes)) == bytes));
    const auto again = decoded<Delivery>(encoded(Delivery{"a street", order, {}}));
    BOOST_TEST((again.order == order));
    BOOST_TEST(!again.returned.has_value());
  }
  BOOST_TEST((decoded<std::vector<OrderRecord>>(encoded(std::vector{order_of(1), order_of(2)})).at(1) ==
              order_of(2)));
  static_assert(!is_key<OrderRecord>() && !is_key<Delivery>() && has_heap<OrderRecord>);
  BOOST_TEST(record_layout<Delivery>().starts_with("{string,message<"));
  BOOST_TEST(record_layout<OrderRecord>() != record_layout<CapnpRecord<Order::Item>>());
}

// However their builders came to them: in one go, or with holes, or in many segments.
BOOST_AUTO_TEST_CASE(equal_messages_have_equal_bytes) {
  capnp::MallocMessageBuilder holes, segments(1, capnp::AllocationStrategy::FIXED_SIZE);
  fill(holes.initRoot<Order>(), 1, 100);
  fill(holes.getRoot<Order>(), 7);
  fill(segments.initRoot<Order>(), 7);
  BOOST_TEST(segments.getSegmentsForOutput().size() > 3u);
  BOOST_TEST((OrderRecord(holes.getRoot<Order>()) == order_of(7)));
  BOOST_TEST((OrderRecord(segments.getRoot<Order>()) == order_of(7)));
  BOOST_TEST((order_of(8) != order_of(7)));
}

BOOST_AUTO_TEST_CASE(messages_of_files_are_taken) {
  capnp::MallocMessageBuilder segments(1, capnp::AllocationStrategy::FIXED_SIZE);
  fill(segments.initRoot<Order>(), 7);
  const std::string flat = text(segments);
  BOOST_TEST((OrderRecord::of_bytes(flat) == order_of(7)));
  BOOST_TEST((OrderRecord::of_bytes(order_of(9).bytes()) == order_of(9)));
  for (std::size_t size = 0; size < flat.size(); ++size) {
    const Status status = test::status_of([&] { OrderRecord::of_bytes(flat.substr(0, size)); });
    BOOST_TEST((status.code == Code::data_loss), size);
    BOOST_TEST(status.message.find("expected a Cap'n Proto message in " + std::to_string(size)) == 0u,
               status.message);
  }
  BOOST_TEST(test::status_of([&] {
               OrderRecord::of_bytes(flat + "12345678");
             }).message.find("does not end where they do") != std::string::npos);
  BOOST_TEST(test::status_of([&] { OrderRecord::of_bytes(flat + "1"); }).message.find("whole words") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_message_that_nobody_could_read_is_refused) {
  const Status deep = test::status_of([] { nested(100); });
  BOOST_TEST((deep.code == Code::invalid_argument), deep.to_string());
  BOOST_TEST(deep.message.find("too deeply") != deep.message.npos, deep.message);
}

BOOST_AUTO_TEST_CASE(every_truncation_is_an_error) {
  const Bytes whole = encoded(order_of(7));
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_refused(
        {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)},
        size < 8 ? "bytes of a message's table of segments" : "bytes of a Cap'n Proto message");
}

// Reading it must stay within the message, whatever it says.
BOOST_AUTO_TEST_CASE(every_flipped_bit_is_refused_or_is_another_message) {
  const Bytes whole = encoded(order_of(7));
  std::size_t refused = 0, others = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes damaged = whole;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    try {
      const auto order = decoded<OrderRecord>(damaged);
      ++others;
      std::size_t read = order.reader().getNumber() + order.reader().getCustomer().size();
      for (const auto item : order.reader().getItems()) read += item.getName().size();
      BOOST_TEST((read > 0 && encoded(order) == damaged));
    } catch (const Error& error) {
      BOOST_TEST((error.code() == Code::data_loss));
      ++refused;
    } catch (const kj::Exception&) {  // a pointer of another kind than the schema's
    }
  }
  BOOST_TEST(refused > 500u);
  BOOST_TEST(others > 100u);
}

BOOST_AUTO_TEST_CASE(hostile_messages_are_refused) {
  const std::uint64_t one_pointer = std::uint64_t{1} << 48;
  expect_refused(of_words({table(1, 1), 0}), "a Cap'n Proto message of one segment");
  expect_refused(of_words({table(0)}), "a canonical Cap'n Proto message");
  expect_refused(of_words({table(0xffffffff), 0}),
                 "expected 34359738360 bytes of a Cap'n Proto message");
  // A struct of 65,535 words, of which none is there; one that lies where its pointer is; before it.
  expect_refused(of_words({table(1), std::uint64_t{0xffff} << 32}), "whole Cap'n Proto message");
  expect_refused(of_words({table(2), one_pointer, one_pointer | 0xfffffff8U}), "Cap'n Proto message");
  expect_refused(of_words({table(1), 0xfffffffcU | one_pointer}), "Cap'n Proto message");
  // A list of 2^29 - 1 elements of nothing, over and over.
  const std::uint64_t voids = 1U | (std::uint64_t{0x1fffffff} << 35);
  expect_refused(of_words({table(3), std::uint64_t{2} << 48, voids, voids}), "Cap'n Proto message");
  // Words that nothing points to; a far pointer; a capability.
  expect_refused(of_words({table(2), one_pointer, 0, 0}), "Cap'n Proto message");
  expect_refused(of_words({table(1), 2}), "Cap'n Proto message");
  expect_refused(of_words({table(2), one_pointer, 3}), "Cap'n Proto message");
}

BOOST_AUTO_TEST_CASE(what_a_message_holds_is_counted) {
  const OrderRecord large = order_of(1, 1000);
  BOOST_TEST((heap_bytes(large) >= large.bytes().size()));
  BOOST_TEST((heap_bytes(large) < 2 * large.bytes().size()));
  BOOST_TEST(large.bytes().size() > 30'000u);
}

BOOST_AUTO_TEST_SUITE_END()
