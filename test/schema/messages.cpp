// Every kind of message, sent over a socket and compared with what arrives.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "dataflow/graph/core_ops.h"
#include "schema/message.h"
#include "test/schema/support/tasks.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

struct TwoEnds {
  Message round_trip(Message message) {
    sender.link->send(std::move(message));
    auto received = receiver.messages.take();
    BOOST_REQUIRE(received);
    return std::move(*received);
  }
  template <class T>
  T round_trip_as(T message) {
    return std::get<T>(round_trip(std::move(message)));
  }

  std::unique_ptr<Network> network = make_rpc_network(ops(), heap());
  Receiver receiver{*network, task("ps", 0)};
  Sender sender{*network, receiver.address(), task("worker", 1), {"ps", 0}};
};

std::vector<Tensor> tensors_of_all_types() {
  return {Tensor::of<float>({2, 3}, {1, -2, 3.5f, 0, 1e30f, -1e-30f}),
          Tensor::of<double>({2}, {std::numeric_limits<double>::infinity(), -0.0}),
          Tensor::of<std::int32_t>({1, 1, 2}, {-1, std::numeric_limits<std::int32_t>::max()}),
          Tensor::of<std::int64_t>({2}, {std::numeric_limits<std::int64_t>::min(), 7}),
          Tensor::of<bool>({3}, {true, false, true}),
          Tensor::of<std::uint8_t>({5}, {0, 1, 2, 254, 255}),
          Tensor::of<std::string>({3}, {"", std::string("a\0b", 3), "\xff\xfe not UTF-8"}),
          Tensor{Float16(1.5), Float16::of_bits(0x7E01), Float16(-0.0)},
          Tensor::of<BFloat16>({3, 1}, {BFloat16(-2), BFloat16(1e30), BFloat16(0)}),
          Tensor::of<std::int8_t>({3}, {-128, 0, 127}),
          Tensor::of<std::int16_t>({2}, {-32768, 32767}),
          Tensor::scalar(42.0f),
          Tensor::allocate(DType::float32, {0, 7}),
          Tensor::allocate(DType::string, {0})};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(messages, TwoEnds)

BOOST_AUTO_TEST_CASE(a_tensor_of_every_type_arrives_bit_by_bit) {
  for (const auto& tensor : tensors_of_all_types()) {
    const auto received = round_trip_as(TensorDelivery{7, 3, tensor});
    BOOST_TEST(received.step == 7u);
    BOOST_TEST(received.channel == 3u);
    BOOST_TEST(identical(received.tensor, tensor), tensor.describe());
  }
}

BOOST_AUTO_TEST_CASE(a_missing_tensor_stays_missing) {
  BOOST_TEST(!round_trip_as(TensorDelivery{1, 1, Tensor()}).tensor.valid());
}

BOOST_AUTO_TEST_CASE(tensors_around_the_limits_of_a_message_arrive) {
  for (const std::int64_t bytes :
       {16'383, 16'384, 16'385, 1'048'576, 1'048'577, 1'048'583, 3'145'728, 3'145'733}) {
    Tensor tensor = Tensor::allocate(DType::uint8, {bytes});
    std::uint8_t value = 0;
    for (auto& element : tensor.mutable_values<std::uint8_t>())
      element = value = static_cast<std::uint8_t>(value * 5 + 1);
    BOOST_TEST(identical(round_trip_as(TensorDelivery{1, 2, tensor}).tensor, tensor), bytes);
  }
}

BOOST_AUTO_TEST_CASE(large_string_tensors_arrive) {
  const Tensor tensor =
      Tensor::of<std::string>({2, 2}, {std::string(3'000'000, 'x'), "", "short", std::string(1, '\0')});
  BOOST_TEST(identical(round_trip_as(TensorDelivery{1, 2, tensor}).tensor, tensor));
}

BOOST_AUTO_TEST_CASE(a_tensor_of_100_MiB_arrives) {
  const Tensor tensor = counting(26 << 20);
  BOOST_TEST(identical(round_trip_as(TensorDelivery{1, 2, tensor}).tensor, tensor));
}

BOOST_AUTO_TEST_CASE(run_graph_carries_its_arguments_whatever_their_number_and_size) {
  RunGraph run{5, 9, 3, {}};
  for (std::int32_t i = 0; i < 300; ++i) run.args.emplace_back(i, counting(10'000 + i));
  run.args.emplace_back(1000, counting(1 << 20));
  const auto received = round_trip_as(run);
  BOOST_TEST(received.handle == 5u);
  BOOST_TEST(received.step == 9u);
  BOOST_TEST(received.epoch == 3);
  BOOST_REQUIRE(received.args.size() == run.args.size());
  for (std::size_t i = 0; i < run.args.size(); ++i) {
    BOOST_TEST(received.args[i].first == run.args[i].first);
    BOOST_TEST(identical(received.args[i].second, run.args[i].second));
  }
}

BOOST_AUTO_TEST_CASE(step_done_carries_status_and_results) {
  StepDone done;
  done.step = 11;
  done.status = {Code::aborted, "node 'x': \xc3\xa4"};
  done.retvals.emplace_back(-1, Tensor::scalar(std::int64_t{4}));
  const auto received = round_trip_as(done);
  BOOST_TEST(received.step == 11u);
  BOOST_TEST((received.status.code == Code::aborted));
  BOOST_TEST(received.status.message == "node 'x': \xc3\xa4");
  BOOST_REQUIRE(received.retvals.size() == 1u);
  BOOST_TEST(received.retvals[0].first == -1);
  BOOST_TEST(received.retvals[0].second.scalar<std::int64_t>() == 4);
}

BOOST_AUTO_TEST_CASE(an_error_text_of_1_MiB_arrives_whole) {
  const std::string text(1 << 20, 'e');
  BOOST_TEST((round_trip_as(AbortStep{3, {Code::internal, text}}).reason.message == text));
}

BOOST_AUTO_TEST_CASE(an_endless_error_text_is_cut) {
  const auto received = round_trip_as(AbortStep{3, {Code::internal, std::string(100 << 20, 'e')}});
  BOOST_TEST(received.reason.message.size() < std::size_t{5} << 20);
  BOOST_TEST(received.reason.message.ends_with("(cut: 104857600 bytes)"));
}

BOOST_AUTO_TEST_CASE(small_messages_keep_their_fields) {
  const auto registered = round_trip_as(GraphRegistered{1, {Code::not_found, "no"}, 3});
  BOOST_TEST(registered.request == 1u);
  BOOST_TEST((registered.status.code == Code::not_found));
  BOOST_TEST(registered.status.message == "no");
  BOOST_TEST(registered.handle == 3u);
  BOOST_TEST(round_trip_as(DeregisterGraph{17}).handle == 17u);
  const auto abort = round_trip_as(AbortStep{~StepId{0}, {Code::cancelled, ""}});
  BOOST_TEST(abort.step == ~StepId{0});
  BOOST_TEST((abort.reason.code == Code::cancelled));
  const auto applied = round_trip_as(GradientApplied{"global_step", "dense/w", -5, 2});
  BOOST_TEST(applied.coordinator == "global_step");
  BOOST_TEST(applied.accumulator == "dense/w");
  BOOST_TEST(applied.global_step == -5);
  BOOST_TEST(applied.epoch == 2);
  BOOST_TEST(std::holds_alternative<ReplicaDone>(round_trip(ReplicaDone{})));
  BOOST_TEST(round_trip_as(Shutdown{"done"}).reason == "done");
  const auto failed = round_trip_as(Shutdown{"the disk is broken", Code::disk_error});
  BOOST_TEST(failed.reason == "the disk is broken");
  BOOST_TEST((failed.code == Code::disk_error));
}

BOOST_AUTO_TEST_CASE(a_graph_arrives_with_all_that_it_says) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {Shape::unknown, 4}, "x");
  const Output c = graph.on("/job:ps/task:0", [&] { return graph.constant(counting(4), "c"); });
  const Output big = graph.constant(counting(1 << 20), "big");
  const Output identity = graph.add(identity_op(), {x}, {}, "scope/identity");
  graph.add_control(c, graph.add(no_op(), {}, {}, "after"));
  const Output free = graph.placeholder(DType::int64, Shape::unknown_rank(), "free");

  const auto received = round_trip_as(RegisterGraph{8, graph.def(), true, Executor::node_actors});
  BOOST_TEST(received.cuda_graphs);
  BOOST_TEST((received.executor == Executor::node_actors));
  BOOST_TEST(received.request == 8u);
  BOOST_REQUIRE(received.graph.size() == graph.def().size());
  for (NodeId id = 0; id < graph.def().size(); ++id) {
    const Node& expected = graph.def().node(id);
    const Node& actual = received.graph.node(id);
    BOOST_TEST(actual.name == expected.name);
    BOOST_TEST(actual.op == expected.op);
    BOOST_TEST((actual.inputs == expected.inputs));
    BOOST_TEST(actual.controls == expected.controls);
    BOOST_TEST(actual.device == expected.device);
    BOOST_TEST((actual.outputs == expected.outputs));
    BOOST_TEST(actual.attrs.size() == expected.attrs.size());
  }
  const auto value = [&](Output constant) {
    return attr<Tensor>(received.graph.node(constant.edge.node), "value");
  };
  BOOST_TEST(identical(value(c), counting(4)));
  BOOST_TEST(identical(value(big), counting(1 << 20)));
  BOOST_TEST(received.graph.node(identity.edge.node).outputs[0].to_string() == "float32[?,4]");
  BOOST_TEST(!received.graph.node(free.edge.node).outputs[0].shape.has_rank());
}

BOOST_AUTO_TEST_CASE(what_a_task_does_about_the_next_step_arrives) {
  for (const auto next : {NextStep::unknown, NextStep::announced, NextStep::begun})
    BOOST_TEST((round_trip_as(RunGraph{5, 9, 0, {}, false, next}).next == next));
}

BOOST_AUTO_TEST_CASE(the_trace_of_a_step_arrives) {
  BOOST_TEST(round_trip_as(RunGraph{5, 9, 0, {}, true}).trace);
  BOOST_TEST(!round_trip_as(RunGraph{5, 9, 0, {}}).trace);
  StepDone done;
  done.trace = {100, 220, {{"w/send", "Send", "/job:ps/task:0", 110, 120, 40, "/job:worker/task:1", 7}}};
  const auto received = round_trip_as(done).trace;
  BOOST_TEST(received.start_us == 100);
  BOOST_TEST(received.end_us == 220);
  BOOST_REQUIRE(received.nodes.size() == 1u);
  const NodeTrace& node = received.nodes[0];
  BOOST_TEST(node.node == "w/send");
  BOOST_TEST(node.op == "Send");
  BOOST_TEST(node.device == "/job:ps/task:0");
  BOOST_TEST(node.start_us == 110);
  BOOST_TEST(node.end_us == 120);
  BOOST_TEST(node.bytes_out == 40);
  BOOST_TEST(node.peer == "/job:worker/task:1");
  BOOST_TEST(node.channel == 7);
}

BOOST_AUTO_TEST_CASE(questions_about_a_task_and_their_answers_arrive) {
  BOOST_TEST(round_trip_as(GetStatus{6}).request == 6u);
  const DeviceInfo gpu{"/job:ps/replica:0/task:0/device:GPU:1", "GPU", std::int64_t{80} << 30, ~0ULL};
  const auto status = round_trip_as(TaskStatus{6, {gpu}});
  BOOST_TEST(status.request == 6u);
  BOOST_REQUIRE(status.devices.size() == 1u);
  BOOST_TEST((status.devices[0] == gpu));
  const auto clear = round_trip_as(ClearContainers{8, {"", "a"}, "session-1"});
  BOOST_TEST(clear.request == 8u);
  BOOST_TEST((clear.containers == std::vector<std::string>{"", "a"}));
  BOOST_TEST(clear.session == "session-1");
  BOOST_TEST(round_trip_as(ContainersCleared{8}).request == 8u);
  round_trip_as(Heartbeat{});
  for (const auto what : {Undelivered::What::graph, Undelivered::What::run, Undelivered::What::tensor}) {
    const auto undelivered =
        round_trip_as(Undelivered{what, 77, {Code::resource_exhausted, "too large"}});
    BOOST_TEST((undelivered.what == what && undelivered.number == 77));
    BOOST_TEST(undelivered.reason.to_string() == "resource_exhausted: too large");
  }
}

BOOST_AUTO_TEST_CASE(a_message_between_actors_arrives_with_its_names_and_tensors) {
  const Tensor content = Tensor::of<std::uint8_t>({3}, {1, 0, 255});
  for (const std::int64_t size : {0, 5, 1 << 20}) {
    const Tensor payload = Tensor::zeros(DType::uint8, {size});
    const auto received =
        round_trip_as(ActorMessage{"counter", "clients", "Add{string}", ~0ULL, content, payload, {}});
    BOOST_TEST(
        (received.to == "counter" && received.from == "clients" && received.type == "Add{string}"));
    BOOST_TEST((received.request == ~0ULL && received.status.ok()));
    BOOST_TEST((identical(received.content, content) && identical(received.payload, payload)), size);
  }
  ActorMessage refused;
  refused.to = "a";
  refused.status = {Code::aborted, "no"};
  const auto failed = round_trip_as(refused);
  BOOST_TEST((!failed.content.valid() && !failed.payload.valid()));
  BOOST_TEST(failed.status.to_string() == "aborted: no");
}

BOOST_AUTO_TEST_SUITE_END()
