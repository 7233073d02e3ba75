#include <boost/test/unit_test.hpp>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/graph.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/dataflow_ops.h"
#include "dataflow/ops/training_ops.h"
#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(core_ops)

using namespace actorflow;
using test::invalid_with;

BOOST_AUTO_TEST_CASE(state_and_transfer_ops_are_stateful_and_dispatched_to_their_actor) {
  for (const OpDef* op : dataflow_ops()) {
    const bool outside = op->dispatch != Dispatch::kernel && op->dispatch != Dispatch::step;
    BOOST_TEST(op->stateful == outside, op->name);
  }
  BOOST_TEST((take_token_op().dispatch == Dispatch::coordinator));
  BOOST_TEST((read_variable_op().dispatch == Dispatch::shard));
  BOOST_TEST((send_op().dispatch == Dispatch::rendezvous));
}

BOOST_AUTO_TEST_CASE(a_constant_has_the_type_of_its_value) {
  Graph g;
  BOOST_TEST(g.constant(Tensor::of<float>({2}, {1, 2})).type().to_string() == "float32[2]");
  BOOST_TEST(g.constant("text").type().to_string() == "string[]");
  BOOST_CHECK_EXCEPTION(g.constant(Tensor()), Error, invalid_with({"a tensor as 'value'"}));
}

BOOST_AUTO_TEST_CASE(a_sum_knows_what_any_of_its_inputs_knows) {
  Graph g;
  const Output a = g.placeholder(DType::float32, {-1, 3}), b = g.placeholder(DType::float32, {2, -1});
  BOOST_TEST(g.add(add_n_op(), {a, b}).type().to_string() == "float32[2,3]");
  const Output c = g.placeholder(DType::float32, {2, 4});
  BOOST_CHECK_EXCEPTION(g.add(add_n_op(), {a, c}), Error,
                        invalid_with({"float32[?,3]", "float32[2,4]"}));
  BOOST_CHECK_EXCEPTION(g.add(add_n_op(), {g.constant("text")}), Error, invalid_with({"numeric"}));
}

BOOST_AUTO_TEST_SUITE_END()
