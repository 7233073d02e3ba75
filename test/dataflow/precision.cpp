#include "dataflow/graph/precision.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/graph/gradient.h"
#include "test/dataflow/expect.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(precision)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// (a, b) -> a * b, as exactly as the node says.
const OpDef& product_op() {
  static const OpDef op{.name = "Product",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = {precision_attr()},
                        .infer =
                            [](InferContext& c) {
                              expect_precision(c);
                              c.add_output(c.input(0).dtype, c.input(0).shape);
                            },
                        .gradient =
                            [](GradientContext& c) {
                              const Output a = c.input(0), b = c.input(1), g = c.gradient();
                              return std::vector<Output>{c.graph().add(product_op(), {g, b}),
                                                         c.graph().add(product_op(), {g, a})};
                            }};
  return op;
}

Output product(Output a, Output b) { return a.graph->add(product_op(), {a, b}); }

}  // namespace

BOOST_AUTO_TEST_CASE(names_are_read_as_they_are_written) {
  for (const auto each : {Precision::float32, Precision::tf32, Precision::bf16})
    BOOST_TEST((parse_precision(to_string(each)) == each));
  BOOST_CHECK_EXCEPTION(parse_precision("half"), Error,
                        invalid_with({"unknown precision 'half'", "float32, tf32 or bf16"}));
}

BOOST_AUTO_TEST_CASE(a_product_has_the_precision_of_the_innermost_scope_or_its_own) {
  Graph g;
  const Output x = g.constant(2.0);
  BOOST_TEST((precision_of(product(x, x).node()) == Precision::float32));
  g.precision(Precision::bf16, [&] {
    BOOST_TEST((precision_of(product(x, x).node()) == Precision::bf16));
    BOOST_TEST((precision_of(multiply(x, x).node()) == Precision::float32));  // it has none
    const Output inner = g.precision(Precision::tf32, [&] { return product(x, x); });
    BOOST_TEST((precision_of(inner.node()) == Precision::tf32));
    const Output own = g.add(product_op(), {x, x}, {{"precision", std::string("float32")}});
    BOOST_TEST((precision_of(own.node()) == Precision::float32));
  });
  BOOST_TEST((precision_of(product(x, x).node()) == Precision::float32));
}

BOOST_AUTO_TEST_CASE(gradients_have_the_precision_of_their_nodes_whatever_the_scope) {
  Graph g;
  const Output x = g.constant(2.0);
  const Output rounded = g.precision(Precision::bf16, [&] { return product(x, x); });
  const Output loss = product(rounded, x);
  const NodeId first = g.def().size();
  g.precision(Precision::tf32, [&] { gradients(loss, {x}); });
  std::vector<Precision> found;
  for (NodeId id = first; id < g.def().size(); ++id)
    if (g.def().node(id).op == &product_op()) found.push_back(precision_of(g.def().node(id)));
  const std::vector<Precision> expected{Precision::float32, Precision::float32, Precision::bf16,
                                        Precision::bf16};
  BOOST_TEST((found == expected));
}

BOOST_AUTO_TEST_CASE(an_unknown_precision_is_refused_with_the_node_s_name) {
  Graph g;
  const Output x = g.constant(2.0);
  BOOST_CHECK_EXCEPTION(g.add(product_op(), {x, x}, {{"precision", std::string("fp8")}}, "dense"), Error,
                        invalid_with({"'dense'", "float32, tf32 or bf16", "'fp8'"}));
  BOOST_CHECK_EXCEPTION(g.add(product_op(), {x, x}, {{"precision", 16.0}}, "dense"), Error,
                        invalid_with({"'dense'", "'precision'"}));
}

BOOST_AUTO_TEST_SUITE_END()
