// Tensors of float16, bfloat16, int8 and int16 where actors have them: variables, edges between tasks,
// copies for other replicas, summaries, features.
#include <boost/test/unit_test.hpp>

#include "actors/client/session.h"
#include "actors/estimator/columns/feature_values.h"
#include "actors/events/summaries.h"
#include "actors/shard/state_copy.h"
#include "dataflow/train/replicate.h"
#include "kernels/ops.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(short_types)

using namespace actorflow;

namespace {

// The numbers 1 and 2.
const DType all_types[] = {DType::float16, DType::bfloat16, DType::int8, DType::int16};

Tensor one_and_two(DType dtype) {
  Graph g;
  const Output numbers = cast(g.constant(Tensor{1, 2}), dtype);
  return Session(g).run(numbers);
}

}  // namespace

BOOST_AUTO_TEST_CASE(variables_of_another_task_are_assigned_and_read) {
  LocalCluster cluster({{"ps", 1}, {"worker", 1}});
  for (const DType dtype : all_types) {
    Graph g;
    const std::string name(to_string(dtype));
    const Tensor value = one_and_two(dtype);
    const Variable v = g.on("/job:ps/task:0", [&] {
      return g.variable("v_" + name, g.constant(Tensor::zeros(dtype, {2})));
    });
    const Output fed = g.placeholder(dtype, {2}), changed = g.assign(v, fed);
    const Output there = g.on("/job:worker/task:0", [&] { return cast(v.value(), DType::int32); });
    Session session(cluster.server("worker", 0).target(), g);
    session.initialize_variables();
    session.run({}, {{fed, value}}, {changed});
    BOOST_TEST(identical(session.run(v), value), name);
    BOOST_TEST(identical(session.run(there), Tensor{1, 2}), name);
  }
}

BOOST_AUTO_TEST_CASE(floating_ones_are_added_to_and_none_is_trained) {
  Graph g;
  const Variable v = g.variable("v", g.constant(Tensor{BFloat16(256)}));
  const Output more = g.assign_add(v, g.constant(Tensor{BFloat16(3)}));
  Session session(g);
  session.initialize_variables();
  BOOST_TEST(session.run(more).values<BFloat16>()[0] == 260);  // 259 has 9 bits
  const Variable step = global_step(g);
  const Status status = test::status_of([&] { minimize(g, sum(v.value()), {v}, step, Sgd{0.1}); });
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(status.message.find("float32 or float64") != status.message.npos, status.to_string());
}

BOOST_AUTO_TEST_CASE(other_replicas_get_the_same_bytes) {
  std::vector<CopiedState> states;
  for (const DType dtype : all_types)
    states.push_back({std::string(to_string(dtype)), {one_and_two(dtype)}});
  const auto again = decode_states(encode_states(states), states.size());
  for (std::size_t i = 0; i < states.size(); ++i)
    BOOST_TEST(identical(again[i].tensors.at(0), states[i].tensors[0]), states[i].slots_of);
}

BOOST_AUTO_TEST_CASE(summaries_and_feature_columns_read_their_numbers) {
  for (const DType dtype : all_types) {
    Graph g;
    Summaries summaries;
    summaries.scalar("two", cast(g.constant(2), dtype));
    Session session(g);
    const auto values = summaries.values(session.run(summaries.fetches()));
    BOOST_TEST(std::get<ScalarSummary>(values.at(0).value).value == 2, to_string(dtype));
    BOOST_TEST(identical(numbers_of("key", one_and_two(dtype), 2), Tensor{1.0F, 2.0F}));
    if (is_integer(dtype)) BOOST_TEST(integers_of("key", one_and_two(dtype)).at(1).value() == 2);
  }
}

BOOST_AUTO_TEST_SUITE_END()
