#include "kernels/ops/clipping.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "test/kernels/support/interpreter.h"

BOOST_AUTO_TEST_SUITE(clipping)

using namespace actorflow;

namespace {

// Gradients (3, 0) and 4: their global norm is 5.
struct Gradients {
  Graph g;
  std::vector<GradientAndVariable> items;

  explicit Gradients(float first = 3) {
    const Variable a = g.variable("a", g.constant(Tensor::of<float>({2}, {0, 0})));
    const Variable b = g.variable("b", g.constant(0.0));
    items = {{g.constant(Tensor::of<float>({2}, {first, 0})), a}, {g.constant(4.0), b}};
  }
};

// Of a graph in which only constants are computed with.
Tensor value(Output output) {
  Graph& g = *output.graph;
  GraphDef pruned;
  std::map<NodeId, NodeId> places;
  for (NodeId id = 0; id < g.def().size(); ++id) {
    Node node = g.def().node(id);
    if (!node.op->is_pure()) continue;
    for (auto& edge : node.inputs) edge.node = places.at(edge.node);
    places[id] = pruned.size();
    pruned.nodes.push_back(std::move(node));
  }
  return test::interpret(pruned, {}, {{nullptr, {places.at(output.edge.node), 0}}}).front();
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_global_norm_is_that_of_all_tensors_together) {
  const Gradients gradients;
  BOOST_TEST(
      value(global_norm({gradients.items[0].gradient, gradients.items[1].gradient})).scalar<double>() ==
      5);
}

BOOST_AUTO_TEST_CASE(gradients_are_scaled_to_the_largest_norm_and_keep_their_types) {
  const Gradients gradients;
  const auto clipped = clip_by_global_norm(gradients.items, 2.5);
  BOOST_TEST(value(clipped[0].gradient).values<float>()[0] == 1.5F);
  BOOST_TEST(value(clipped[0].gradient).values<float>()[1] == 0.0F);
  BOOST_TEST(value(clipped[1].gradient).scalar<double>() == 2);
  BOOST_TEST(clipped[1].variable.name() == "b");
}

BOOST_AUTO_TEST_CASE(gradients_below_the_largest_norm_stay_as_they_are) {
  const Gradients gradients;
  const auto clipped = clip_by_global_norm(gradients.items, 10);
  BOOST_TEST(value(clipped[0].gradient).values<float>()[0] == 3.0F);
  BOOST_TEST(value(clipped[1].gradient).scalar<double>() == 4);
}

BOOST_AUTO_TEST_CASE(nan_is_not_hidden) {
  const Gradients gradients(std::numeric_limits<float>::quiet_NaN());
  const auto clipped = clip_by_global_norm(gradients.items, 1);
  BOOST_TEST(std::isnan(value(clipped[1].gradient).scalar<double>()));
}

BOOST_AUTO_TEST_CASE(a_norm_that_is_not_above_0_is_refused) {
  const Gradients gradients;
  BOOST_CHECK_THROW(clip_by_global_norm(gradients.items, 0), Error);
  BOOST_CHECK_THROW(clip_by_global_norm({}, 1), Error);
  BOOST_CHECK_THROW(clip_by_norm(gradients.items, -1), Error);
}

BOOST_AUTO_TEST_CASE(each_gradient_is_clipped_by_its_own_norm) {
  const Gradients gradients;
  const auto clipped = clip_by_norm(gradients.items, 3.5);
  BOOST_TEST(value(clipped[0].gradient).values<float>()[0] == 3.0F);
  BOOST_TEST(value(clipped[1].gradient).scalar<double>() == 3.5);
}

BOOST_AUTO_TEST_CASE(each_element_is_clipped_by_value) {
  Gradients gradients;
  const auto clipped = clip_by_value(gradients.items, -1, 2);
  BOOST_TEST(value(clipped[0].gradient).values<float>()[0] == 2);
  BOOST_TEST(value(clipped[1].gradient).scalar<double>() == 2);
  BOOST_CHECK_THROW(clip_by_value(gradients.items, 2, -1), Error);
}

BOOST_AUTO_TEST_SUITE_END()
