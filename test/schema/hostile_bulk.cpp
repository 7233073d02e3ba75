// Bulk lanes that break the rules: their connection closes, and nothing else.
#include <capnp/any.h>
#include <capnp/serialize.h>

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "test/schema/support/raw_client.h"
#include "test/schema/support/raw_socket.h"
#include "test/schema/support/tasks.h"
#include "test/support/contains.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

const std::string magic = "AFLOWBLK";

Bytes to_bytes(const void* begin, std::size_t size) {
  const auto* first = static_cast<const char*>(begin);
  return {first, first + size};
}

// A frame with one payload and a tensor that refers to payload 1.
Bytes frame(const std::function<void(wire::BulkFrame::Payload::Builder)>& write_payload,
            std::uint64_t transfer = 1, std::int64_t elements = 8) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<wire::BulkFrame>();
  auto tensor = root.initEnvelope().initTensorDelivery().initTensor();
  tensor.setDtype(wire::DType::UINT8);
  tensor.setDims({elements});
  tensor.setTransfer(transfer);
  write_payload(root.initPayloads(1)[0]);
  const auto words = capnp::messageToFlatArray(message);
  return to_bytes(words.asBytes().begin(), words.asBytes().size());
}

auto payload(std::uint64_t number, std::uint64_t size_bytes) {
  return [=](wire::BulkFrame::Payload::Builder to) {
    to.setNumber(number);
    to.setSizeBytes(size_bytes);
  };
}

struct BulkPort {
  BulkPort() {
    RpcOptions options;
    options.max_incoming_bytes = 1 << 20;
    options.handshake_timeout_ms = 500;
    options.on_warning = [this](const std::string& text) { warnings.put(text); };
    network = make_rpc_network(ops(), heap(), options);
    receiver.emplace(*network, task("ps", 0));
  }

  // The token of a connection, as the first bytes of its bulk plane.
  static Bytes hello(wire::Task::ConnectResults::Reader connected) {
    Bytes bytes(magic.begin(), magic.end());
    const auto token = connected.getBulk().getToken();
    bytes.insert(bytes.end(), token.begin(), token.end());
    return bytes;
  }

  // The warning with which a peer that writes this to its bulk plane is closed.
  std::string closed_for(const Bytes& bytes) {
    RawClient client(receiver->address());
    const auto connected = client.connect();
    Socket lane(receiver->address());
    lane.write(hello(connected));
    BOOST_REQUIRE((lane.read(8) == Bytes(8, 0)));
    lane.write(bytes);
    lane.wait_for_end();
    BOOST_TEST(receiver->gone.take().has_value());
    BOOST_TEST(receiver->messages.size() == 0u);
    return warnings.take().value_or("");
  }

  ~BulkPort() {
    // Whatever has happened, a good peer gets through.
    Sender good(*network, receiver->address(), task("worker", 1), {"ps", 0});
    good.link->send(TensorDelivery{5, 0, counting(1 << 15)});
    const auto message = receiver->messages.take();
    BOOST_TEST((message && std::get<TensorDelivery>(*message).step == 5));
  }

  Mailbox<std::string> warnings;
  std::unique_ptr<Network> network;
  std::optional<Receiver> receiver;
};

// A graph whose list of nodes has elements without bytes: two words that announce half a billion.
Bytes graph_of_nothing() {
  capnp::MallocMessageBuilder message;
  auto graph = message.initRoot<wire::BulkFrame>().initEnvelope().initRegisterGraph().initGraph();
  capnp::AnyStruct::Builder fields(kj::mv(graph));
  fields.getPointerSection()[0].initAs<capnp::List<capnp::Void>>((1U << 29) - 1);
  const auto words = capnp::messageToFlatArray(message);
  return to_bytes(words.asBytes().begin(), words.asBytes().size());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hostile_bulk, BulkPort)

BOOST_AUTO_TEST_CASE(a_lane_without_a_valid_token_is_closed_and_its_supposed_owner_stays) {
  RawClient client(receiver->address());
  auto connected = client.connect();
  Bytes bytes = hello(connected);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  Socket guess(receiver->address()), truncated(receiver->address());
  guess.write(bytes);
  guess.wait_for_end();
  truncated.write(Bytes(magic.begin(), magic.end()));
  truncated.wait_for_end();  // after the time for introductions
  Socket lane(receiver->address());
  lane.write(hello(connected));
  BOOST_TEST((lane.read(8) == Bytes(8, 0)));
}

BOOST_AUTO_TEST_CASE(a_token_opens_one_lane_only) {
  RawClient client(receiver->address());
  const auto connected = client.connect();
  Socket first(receiver->address()), second(receiver->address());
  first.write(hello(connected));
  BOOST_TEST((first.read(8) == Bytes(8, 0)));
  second.write(hello(connected));
  second.wait_for_end();
}

BOOST_AUTO_TEST_CASE(oversized_tensor_announced_above_the_limit_is_refused_before_memory_is_taken) {
  BOOST_TEST(contains(closed_for(frame(payload(1, std::uint64_t{1} << 40))), "limit of 1048576 bytes"));
  BOOST_TEST(contains(closed_for(frame(payload(1, ~std::uint64_t{0}))), "limit of 1048576 bytes"));
}

BOOST_AUTO_TEST_CASE(payloads_without_number_or_size_are_refused) {
  BOOST_TEST(contains(closed_for(frame(payload(0, 8))), "without number or size"));
  BOOST_TEST(contains(closed_for(frame(payload(1, 0))), "without number or size"));
}

BOOST_AUTO_TEST_CASE(a_place_in_memory_that_is_not_shared_is_refused) {
  const auto place = [](wire::BulkFrame::Payload::Builder to) {
    payload(1, 8)(to);
    to.setPlace(64);
  };
  BOOST_TEST(contains(closed_for(frame(place)), "shared memory, but there is none"));
}

BOOST_AUTO_TEST_CASE(tensors_that_do_not_fit_their_payloads_are_refused) {
  const Bytes eight_bytes(8, 'x');
  const auto with_payload = [&](Bytes bytes) {
    bytes.insert(bytes.end(), eight_bytes.begin(), eight_bytes.end());
    return bytes;
  };
  BOOST_TEST(contains(closed_for(with_payload(frame(payload(1, 8), 1, 9))),
                      "uint8[9] needs 9 bytes, but 8 came"));
  BOOST_TEST(contains(closed_for(with_payload(frame(payload(1, 8), 2))), "transfer 2"));
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_frame_are_refused) {
  BOOST_TEST(!closed_for(Bytes(4096, '\xff')).empty());
  // A frame of 64 MiB and a bit.
  const std::uint32_t too_large[] = {0, (8u << 20) + 1};
  BOOST_TEST(contains(closed_for(to_bytes(too_large, sizeof too_large)), "too large"));
}

BOOST_AUTO_TEST_CASE(a_list_that_announces_more_than_it_has_bytes_is_refused) {
  BOOST_TEST(!closed_for(graph_of_nothing()).empty());
}

BOOST_AUTO_TEST_CASE(messages_that_wait_for_tensors_that_never_come_are_bounded) {
  RawClient client(receiver->address());
  client.connect();
  for (int delivery = 0; delivery < 70; ++delivery)
    client.deliver(1000, [](auto envelopes) {
      for (auto envelope : envelopes) {
        envelope.setAfterBulk(1);
        envelope.setReplicaDone();
      }
    });
  BOOST_TEST(receiver->gone.take().has_value());
  BOOST_TEST(contains(warnings.take().value_or(""), "too many messages wait"));
}

BOOST_AUTO_TEST_CASE(messages_that_wait_for_tensors_that_never_come_are_bounded_in_bytes) {
  RawClient client(receiver->address());
  client.connect();
  for (int delivery = 0; delivery < 5; ++delivery)
    client.deliver(1, [](auto envelopes) {
      envelopes[0].setAfterBulk(1);
      auto tensor = envelopes[0].initTensorDelivery().initTensor();
      tensor.setDtype(wire::DType::UINT8);
      tensor.setDims({1 << 18});
      tensor.initData(1 << 18);
    });
  BOOST_TEST(receiver->gone.take().has_value());
  BOOST_TEST(contains(warnings.take().value_or(""), "too many messages wait"));
}

BOOST_AUTO_TEST_SUITE_END()
