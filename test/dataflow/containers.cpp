#include "dataflow/graph/containers.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/dataflow_ops.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/train/replicate.h"
#include "test/dataflow/expect.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(containers)

using namespace actorflow;
using test::invalid_with;

BOOST_AUTO_TEST_CASE(a_variable_is_named_by_its_innermost_container) {
  Graph g;
  const auto add = [&g] { return g.variable("v", g.constant(1.0)); };
  BOOST_TEST(add().name() == "v");
  BOOST_TEST(g.container("a", add).name() == "a|v");
  BOOST_TEST(g.container("a", [&] { return g.container("b/c", add); }).name() == "b/c|v");
  BOOST_TEST(g.container("x", [&] { return g.name_scope("layer", add); }).name() == "x|layer/v");
  BOOST_TEST(std::string(container_of("b/c|v")) == "b/c");
  BOOST_TEST(std::string(container_of("v")).empty());
}

BOOST_AUTO_TEST_CASE(what_works_on_a_variable_finds_it_from_any_scope) {
  Graph g;
  const Variable v = g.container("a", [&] { return g.variable("v", g.constant(1.0)); });
  const Output sum = g.assign_add(v, g.constant(1.0));
  BOOST_TEST(attr<std::string>(sum.node(), "variable") == "a|v");
}

BOOST_AUTO_TEST_CASE(every_container_has_a_global_step_of_its_own) {
  Graph g;
  BOOST_TEST(global_step(g).name() == "global_step");
  const auto inside = [&g] { return global_step(g).name(); };
  BOOST_TEST(g.container("a", inside) == "a|global_step");
  BOOST_TEST(g.container("a", inside) == "a|global_step");
}

BOOST_AUTO_TEST_CASE(names_that_would_be_mistaken_are_refused) {
  Graph g;
  const auto nothing = [] { return 0; };
  for (const char* name : {"a|b", "a:b", "/a", "a b", "-a"})
    BOOST_CHECK_EXCEPTION(g.container(name, nothing), Error, invalid_with({name}));
  for (const char* name : {"", ".a", "run-3/eval_2"}) BOOST_CHECK_NO_THROW(g.container(name, nothing));
  BOOST_CHECK_EXCEPTION(g.variable("a|v", g.constant(1.0)), Error, invalid_with({"'a|v'", "container"}));
}

BOOST_AUTO_TEST_CASE(an_isolated_session_has_every_container_for_itself) {
  Graph g;
  const Variable plain = g.variable("v", g.constant(1.0));
  const Variable inside = g.container("a", [&] { return g.variable("v", g.constant(1.0)); });
  GraphDef graph = g.def();
  isolate(graph, "session-1");
  const auto name_in = [&](const Variable& v) {
    return attr<std::string>(graph.node(v.value().edge.node), "variable");
  };
  BOOST_TEST(name_in(plain) == "session-1:|v");
  BOOST_TEST(name_in(inside) == "session-1:a|v");
  BOOST_TEST(is_in(name_in(plain), {}, "session-1"));
  BOOST_TEST(is_in(name_in(inside), {}, "session-1"));
  BOOST_TEST(!is_in(name_in(inside), {"a", ""}, "session-2"));
  BOOST_TEST(!is_in(name_in(inside), {"a", ""}, "session-"));
}

// Those that are about the whole task or shard, or an input, name no state; checkpoints and copies name
// a list.
BOOST_AUTO_TEST_CASE(every_op_of_the_state_actors_says_which_attribute_names_its_state) {
  const std::set<std::string_view> others{"RaiseEpoch",       "ReadEpoch",
                                          "IteratorGetNext",  "SnapshotVariables",
                                          "WriteSnapshot",    "RestoreVariables",
                                          "ReadState",        "AssignState",
                                          "CutSlices",        "CountNotFiniteSlices",
                                          "UpdateSlices",     "AssignSlices",
                                          "ReadSlotSlices",   "DivideSlots",
                                          "AssignSlotSlices", "HasWholeSlots",
                                          "TakeFromSnapshot", "RecordTask"};
  for (const OpDef* op : dataflow_ops()) {
    const bool of_state = op->dispatch == Dispatch::shard || op->dispatch == Dispatch::coordinator ||
                          op->dispatch == Dispatch::queue;
    Node node;
    node.op = op;
    for (const AttrDef& attr : op->attrs)
      if (attr.names_state) node.attrs.emplace(attr.name, attr.example);
    BOOST_TEST((named_state(node) != nullptr) == (of_state && !others.contains(op->name)), op->name);
  }
}

BOOST_AUTO_TEST_CASE(an_isolated_session_has_all_state_of_a_node_for_itself) {
  Graph g;
  const Variable v = g.variable("v", g.constant(1.0));
  minimize(g, test::multiply(v, v), {v}, global_step(g), Sgd{}, {.strategy = Synchronous{}});
  GraphDef graph = g.def();
  isolate(graph, "s");
  const auto update = std::ranges::find(graph.nodes, &accumulate_gradient_op(), &Node::op);
  BOOST_TEST_REQUIRE((update != graph.nodes.end()));
  BOOST_TEST(attr<std::string>(*update, "variable") == "s:|v");
  BOOST_TEST(attr<std::string>(*update, "global_step") == "s:|global_step");
  BOOST_TEST(*named_state(*update) == "s:|v");
}

BOOST_AUTO_TEST_CASE(the_default_container_is_the_empty_one) {
  BOOST_TEST(is_in("v", {""}, ""));
  BOOST_TEST(!is_in("v", {"a"}, ""));
  BOOST_TEST(!is_in("a|v", {""}, ""));
  BOOST_TEST(is_in("a|v", {"b", "a"}, ""));
  BOOST_TEST(!is_in("a/b|v", {"a"}, ""));
}

BOOST_AUTO_TEST_SUITE_END()
