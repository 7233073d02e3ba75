// What SEMANTICS promises of tensors that meet their Recvs: either may come first, in order, never twice,
// and nothing stays behind. A foreign chief says each message by hand.
#include <boost/test/unit_test.hpp>

#include "dataflow/graph/state_ops.h"
#include "test/actors/support/foreign_task.h"

using namespace actorflow;
using test::comes_to_hold;
using test::ForeignChief;

namespace {

TensorDelivery delivery(StepId step, std::uint32_t channel, std::int64_t value) {
  return {step, channel, Tensor::scalar(value)};
}

std::int64_t value_of(const StepDone& done, std::int32_t index) {
  BOOST_REQUIRE(done.status.ok());
  for (const auto& [slot, tensor] : done.retvals)
    if (slot == index) return tensor.scalar<std::int64_t>();
  BOOST_FAIL("the step has no such result");
  return 0;
}

// Receives one tensor and returns it.
struct OneTensor : ForeignChief {
  OneTensor() {
    test::return_value(g, test::receive(g, 0), 0);
    handle = register_graph(1, g);
  }
  // While the graph is registered and nothing runs.
  static HeldState idle() {
    HeldState held;
    held.graphs = 1;
    return held;
  }

  Graph g;
  std::uint64_t handle = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rendezvous_semantics, OneTensor)

BOOST_AUTO_TEST_CASE(a_tensor_that_comes_before_its_step_is_held) {
  send(delivery(7, 0, 42));
  HeldState held = idle();
  held.waiting_transfers = 1;
  BOOST_TEST(comes_to_hold(server(), held));
  BOOST_TEST(value_of(run(handle, 7), 0) == 42);
  BOOST_TEST(comes_to_hold(server(), idle()));
}

BOOST_AUTO_TEST_CASE(a_step_waits_for_its_tensor) {
  send(RunGraph{handle, 7, 0, {}});
  HeldState held = idle();
  held.running = held.waiting_transfers = 1;
  BOOST_TEST(comes_to_hold(server(), held));
  send(delivery(7, 0, 42));
  BOOST_TEST(value_of(next<StepDone>(), 0) == 42);
  BOOST_TEST(comes_to_hold(server(), idle()));
}

BOOST_AUTO_TEST_CASE(tensors_of_one_channel_arrive_first_in_first_out) {
  Graph two;
  const Output first = test::receive(two, 3);
  const Output second = two.after({first}, [&] { return test::receive(two, 3); });
  test::return_value(two, first, 0);
  test::return_value(two, second, 1);
  const auto other = register_graph(2, two);
  send(delivery(8, 3, 1));
  send(delivery(8, 3, 2));
  const StepDone done = run(other, 8);
  BOOST_TEST(value_of(done, 0) == 1);
  BOOST_TEST(value_of(done, 1) == 2);
}

BOOST_AUTO_TEST_CASE(steps_do_not_take_each_others_tensors) {
  send(delivery(8, 0, 8));
  send(delivery(7, 0, 7));
  BOOST_TEST(value_of(run(handle, 7), 0) == 7);
  BOOST_TEST(value_of(run(handle, 8), 0) == 8);
}

BOOST_AUTO_TEST_CASE(an_abort_ends_who_waits_with_its_reason) {
  send(RunGraph{handle, 7, 0, {}});
  send(AbortStep{7, {Code::internal, "because"}});
  const auto done = next<StepDone>();
  BOOST_TEST((done.status.code == Code::internal));
  BOOST_TEST(done.status.message.find("because") != std::string::npos, done.status.message);
  BOOST_TEST(comes_to_hold(server(), idle()));
}

BOOST_AUTO_TEST_CASE(an_abort_refuses_a_step_that_comes_after_it) {
  send(AbortStep{7, {Code::internal, "because"}});
  BOOST_TEST((run(handle, 7).status.code == Code::aborted));
  BOOST_TEST(comes_to_hold(server(), idle()));
}

BOOST_AUTO_TEST_CASE(tensors_of_a_step_that_has_failed_are_dropped) {
  send(AbortStep{7, {Code::internal, "because"}});
  send(delivery(7, 0, 42));
  send(delivery(8, 0, 43));
  BOOST_TEST(value_of(run(handle, 8), 0) == 43);  // so the one before it has arrived, too
  BOOST_TEST(comes_to_hold(server(), idle()));
}

BOOST_AUTO_TEST_CASE(a_task_whose_step_fails_drops_what_others_still_send_to_it) {
  Graph failing;
  const Output nothing = failing.add(read_variable_op(), {},
                                     {{"variable", std::string("never assigned")},
                                      {"dtype", DType::int64},
                                      {"shape", Shape{}}});
  test::return_value(failing, nothing, 0);
  test::return_value(failing, failing.after({nothing}, [&] { return test::receive(failing, 0); }), 1);
  const auto other = register_graph(2, failing);
  BOOST_TEST((run(other, 9).status.code == Code::failed_precondition));
  send(delivery(9, 0, 1));
  send(delivery(10, 0, 2));
  BOOST_TEST(value_of(run(handle, 10), 0) == 2);
  HeldState held;
  held.graphs = 2;
  BOOST_TEST(comes_to_hold(server(), held));
}

BOOST_AUTO_TEST_CASE(the_refusal_of_an_unknown_graph_drops_what_others_send_to_the_step) {
  const StepDone done = run(handle + 1, 7);
  BOOST_TEST((done.status.code == Code::aborted));
  BOOST_TEST(done.status.message.find("probably restarted") != std::string::npos, done.status.message);
  send(delivery(7, 0, 1));
  send(delivery(8, 0, 2));
  BOOST_TEST(value_of(run(handle, 8), 0) == 2);
  BOOST_TEST(comes_to_hold(server(), idle()));
}

BOOST_AUTO_TEST_SUITE_END()
