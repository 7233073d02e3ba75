// The port as any Cap'n Proto client sees it, and what it does with messages that break the rules.
#include <boost/test/unit_test.hpp>

#include "test/schema/support/bad_graph.h"
#include "test/schema/support/raw_client.h"
#include "test/schema/support/tasks.h"
#include "test/support/contains.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

struct WirePort {
  WirePort() {
    RpcOptions options;
    options.max_incoming_bytes = 1 << 20;
    options.on_warning = [this](const std::string& text) { warnings.put(text); };
    network = make_rpc_network(ops(), heap(), options);
    receiver.emplace(*network, task("ps", 0),
                     [](const MasterRequest&, const MasterReplyFn& reply) { reply({}); });
  }

  // The warning that a connected peer gets itself closed with.
  std::string closed_for(const std::function<void(RawClient&, wire::Inbox::Client)>& break_a_rule) {
    RawClient client(receiver->address());
    auto hello = client.connect();
    BOOST_REQUIRE(hello.getStatus().getCode() == 0);
    break_a_rule(client, hello.getInbox());
    const auto gone = receiver->gone.take();
    BOOST_REQUIRE(gone);
    BOOST_TEST((gone->name == TaskName{"worker", 7}));
    return warnings.take().value_or("");
  }

  std::string closed_for_tensor(const std::function<void(wire::Tensor::Builder)>& write) {
    return closed_for([&](RawClient& client, wire::Inbox::Client inbox) {
      client.deliver(1, [&](auto envelopes) { write(envelopes[0].initTensorDelivery().initTensor()); });
      client.wait_for(inbox.doneRequest().send().ignoreResult());
    });
  }

  // What is said of a chunk that a client puts: the next call hears of a streaming call that has failed.
  std::string refusal_of_chunk(std::uint64_t offset, std::uint64_t total, std::size_t size) {
    RawClient client(receiver->address());
    auto master = client.master();
    auto request = master.putRequest();
    auto chunk = request.initChunk();
    chunk.setOffset(offset);
    chunk.setTotal(total);
    chunk.initData(static_cast<unsigned>(size));
    std::string refusal;
    client.wait_for(request.send());
    master.doneRequest()
        .send()
        .ignoreResult()
        .catch_([&](kj::Exception&& exception) { refusal = exception.getDescription().cStr(); })
        .wait(client.wait_scope());
    return refusal;
  }

  ~WirePort() {
    // Whatever has happened, a good peer gets through.
    Sender good(*network, receiver->address(), task("worker", 1), {"ps", 0});
    good.link->send(Shutdown{"good"});
    const auto message = receiver->messages.take();
    BOOST_TEST((message && std::holds_alternative<Shutdown>(*message)));
  }

  Mailbox<std::string> warnings;
  std::unique_ptr<Network> network;
  std::optional<Receiver> receiver;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(wire_protocol, WirePort)

BOOST_AUTO_TEST_CASE(version_mismatch_is_refused_and_both_are_named) {
  RawClient client(receiver->address());
  const auto hello = client.connect(99);
  BOOST_TEST(hello.getStatus().getCode() == static_cast<int>(Code::failed_precondition));
  const std::string message = hello.getStatus().getMessage().cStr();
  BOOST_TEST((contains(message, "version " + std::to_string(wire::PROTOCOL_VERSION) + ",") &&
              contains(message, "version 99")),
             message);
  BOOST_TEST(!hello.hasInbox());
}

BOOST_AUTO_TEST_CASE(version_mismatch_of_a_client_is_refused) {
  RawClient client(receiver->address());
  auto request = client.task.masterRequest();
  const auto answer = request.send().wait(client.wait_scope());
  BOOST_TEST(answer.getStatus().getCode() == static_cast<int>(Code::failed_precondition));
  BOOST_TEST(!answer.hasMaster());
}

BOOST_AUTO_TEST_CASE(anybody_may_ask_who_is_there) {
  RawClient client(receiver->address());
  const auto status = client.task.statusRequest().send().wait(client.wait_scope());
  BOOST_TEST(status.getSelf().getName().getJob().cStr() == std::string("ps"));
  BOOST_TEST(status.getProtocolVersion() == wire::PROTOCOL_VERSION);
  BOOST_TEST(status.getConnections() == 1u);
}

BOOST_AUTO_TEST_CASE(
    oversized_tensor_data_that_do_not_fit_the_shape_are_refused_and_both_sizes_are_named) {
  const std::string warning = closed_for_tensor([](wire::Tensor::Builder tensor) {
    tensor.setDtype(wire::DType::FLOAT32);
    tensor.setDims({1000, 1000});
    tensor.initData(12);
  });
  BOOST_TEST(contains(warning, "float32[1000,1000] needs 4000000 bytes, but 12 came"), warning);
  BOOST_TEST(contains(warning, "/job:worker/task:7"), warning);
}

BOOST_AUTO_TEST_CASE(oversized_tensor_a_size_that_overflows_is_refused) {
  const auto huge = [](wire::Tensor::Builder tensor) {
    tensor.setDtype(wire::DType::FLOAT64);
    tensor.setDims({std::int64_t{1} << 61, 2});
    tensor.initData(16);
  };
  BOOST_TEST(contains(closed_for_tensor(huge), "more than 2^63 bytes"));
  const auto more_elements = [](wire::Tensor::Builder tensor) {
    tensor.setDtype(wire::DType::STRING);
    tensor.setDims({std::int64_t{1} << 62, 8});
  };
  BOOST_TEST(contains(closed_for_tensor(more_elements), "more than 2^63 elements"));
}

BOOST_AUTO_TEST_CASE(a_string_tensor_without_its_strings_takes_no_memory) {
  const auto empty = [](wire::Tensor::Builder tensor) {
    tensor.setDtype(wire::DType::STRING);
    tensor.setDims({std::int64_t{1} << 40});
  };
  BOOST_TEST(contains(closed_for_tensor(empty), "needs 1099511627776 strings, but 0 came"));
}

BOOST_AUTO_TEST_CASE(unknown_dimensions_types_and_booleans_are_refused) {
  BOOST_TEST(contains(closed_for_tensor([](wire::Tensor::Builder tensor) {
                        tensor.setDtype(wire::DType::FLOAT32);
                        tensor.setDims({-1});
                      }),
                      "fully known shape"));
  BOOST_TEST(contains(closed_for_tensor([](wire::Tensor::Builder tensor) {
                        tensor.setDtype(static_cast<wire::DType>(77));
                      }),
                      "unknown dtype number 77"));
  BOOST_TEST(contains(closed_for_tensor([](wire::Tensor::Builder tensor) {
                        tensor.setDtype(wire::DType::BOOLEAN);
                        tensor.setDims({1});
                        tensor.initData(1)[0] = 2;
                      }),
                      "neither 0 nor 1"));
}

BOOST_AUTO_TEST_CASE(messages_of_one_that_has_not_connected_are_refused) {
  const auto shut_down = [](auto envelopes) { envelopes[0].setShutdown("now"); };
  {
    RawClient stranger(receiver->address());
    stranger.deliver(1, shut_down);
    stranger.wait_for(stranger.task.statusRequest().send().ignoreResult());
    BOOST_TEST(contains(warnings.take().value_or(""), "before it introduced itself"));
  }
  RawClient client(receiver->address());
  auto master = client.master();
  client.deliver(1, shut_down);
  bool answered = true;
  master.doneRequest()
      .send()
      .ignoreResult()
      .catch_([&](kj::Exception&&) { answered = false; })
      .wait(client.wait_scope());
  BOOST_TEST(!answered);
  BOOST_TEST(contains(warnings.take().value_or(""), "a client sent messages"));
}

BOOST_AUTO_TEST_CASE(messages_between_calls_are_handled_in_order) {
  RawClient client(receiver->address());
  auto inbox = client.connect().getInbox();
  client.deliver(2, [](auto envelopes) {
    envelopes[0].setShutdown("first");
    envelopes[1].setShutdown("second");
  });
  client.wait_for(inbox.doneRequest().send().ignoreResult());
  client.deliver(1, [](auto envelopes) { envelopes[0].setShutdown("third"); });
  for (const std::string reason : {"first", "second", "third"}) {
    const auto message = receiver->messages.take();
    BOOST_REQUIRE((message && std::holds_alternative<Shutdown>(*message)));
    BOOST_TEST(std::get<Shutdown>(*message).reason == reason);
  }
}

BOOST_AUTO_TEST_CASE(a_tensor_without_its_transfer_is_refused) {
  BOOST_TEST(contains(closed_for_tensor([](wire::Tensor::Builder tensor) {
                        tensor.setDtype(wire::DType::UINT8);
                        tensor.setDims({1});
                        tensor.setTransfer(3);
                      }),
                      "transfer 3, which has not arrived"));
}

BOOST_AUTO_TEST_CASE(a_chunk_that_does_not_fit_is_refused) {
  BOOST_TEST(contains(refusal_of_chunk(8, 100, 8), "after 0 of 100 bytes came a chunk of 8 at 8"));
  BOOST_TEST(contains(refusal_of_chunk(0, 100, 101), "came a chunk of 101"));
  BOOST_TEST(contains(refusal_of_chunk(0, 0, 0), "0 bytes was announced"));
}

BOOST_AUTO_TEST_CASE(a_transfer_above_the_limit_fails_its_call_names_both_sizes_and_no_more) {
  RawClient client(receiver->address());
  auto master = client.master();
  const auto run = [&](std::uint64_t transfer) {
    auto request = master.runStepRequest();
    auto value = request.initFeeds(1)[0].initValue();
    value.setDtype(wire::DType::UINT8);
    value.setDims({8});
    value.setTransfer(transfer);
    return request.send().wait(client.wait_scope());
  };
  const auto put = [&](std::uint64_t transfer, std::uint64_t total) {
    for (std::uint64_t offset = 0; offset < 16; offset += 8) {
      if (offset >= total) break;
      auto request = master.putRequest();
      auto chunk = request.initChunk();
      chunk.setTransfer(transfer);
      chunk.setOffset(offset);
      chunk.setTotal(total);
      chunk.initData(8);
      request.send().wait(client.wait_scope());
    }
  };
  for (const std::uint64_t total : {std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    put(7, total);
    const auto refused = run(7);
    const std::string message = refused.getStatus().getMessage().cStr();
    BOOST_TEST(refused.getStatus().getCode() == static_cast<int>(Code::resource_exhausted));
    BOOST_TEST((contains(message, std::to_string(total) + " bytes") &&
                contains(message, "limit of 1048576 bytes")),
               message);
  }
  put(8, 8);
  BOOST_TEST(run(8).getStatus().getCode() == 0);
}

BOOST_AUTO_TEST_CASE(bad_graph_every_kind_of_mistake_is_reported_together) {
  RawClient client(receiver->address());
  auto request = client.master().createSessionRequest();
  write_bad_graph(request.initGraph());
  const auto answer = request.send().wait(client.wait_scope());
  BOOST_TEST(answer.getStatus().getCode() == static_cast<int>(Code::invalid_argument));
  const std::string message = answer.getStatus().getMessage().cStr();
  for (const auto& part : mistakes_of_bad_graph)
    BOOST_TEST(contains(message, part), message << " lacks " << part);
  BOOST_TEST(!contains(message, "'d'"), message);
}

BOOST_AUTO_TEST_SUITE_END()
