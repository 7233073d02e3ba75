#include <boost/test/unit_test.hpp>

#include <array>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/graph.h"
#include "dataflow/graph/op.h"
#include "dataflow/ops/dataflow_ops.h"
#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(op)

using namespace actorflow;
using test::error_with;
using test::invalid_with;

BOOST_AUTO_TEST_CASE(the_registry_finds_ops_by_name) {
  const OpRegistry registry(dataflow_ops());
  BOOST_TEST(&registry.at("Identity") == &identity_op());
  BOOST_TEST(registry.find("Identiti") == nullptr);
  BOOST_CHECK_EXCEPTION(registry.at("Identiti"), Error,
                        error_with(Code::not_found, {"'Identiti'", "did you mean 'Identity'?"}));
}

BOOST_AUTO_TEST_CASE(two_ops_of_one_name_are_refused) {
  const OpDef other{.name = "Identity"};
  const std::array<const OpDef*, 2> ops = {&identity_op(), &other};
  BOOST_CHECK_EXCEPTION(OpRegistry{ops}, Error, error_with(Code::already_exists, {"'Identity'"}));
}

BOOST_AUTO_TEST_CASE(attributes_are_read_with_their_kind) {
  Node node;
  node.name = "x";
  node.op = &no_op();
  node.attrs = {{"size", std::int64_t{3}}};
  BOOST_TEST(attr<std::int64_t>(node, "size") == 3);
  BOOST_CHECK_EXCEPTION(attr<double>(node, "size"), Error,
                        invalid_with({"'x' (NoOp)", "'size'", "int64"}));
  BOOST_CHECK_EXCEPTION(attr<double>(node, "other"), Error,
                        invalid_with({"'x' (NoOp)", "'other' is missing"}));
}

BOOST_AUTO_TEST_SUITE_END()
