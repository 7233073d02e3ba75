#include "dataflow/transform/late_waits.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/transform/step_graph.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(late_waits)

using namespace actorflow;
using test::multiply;

namespace {

const std::string here = "/job:worker/replica:0/task:0/device:CPU:0";
const std::string there = "/job:ps/replica:0/task:0/device:CPU:0";

// A variable of another task, what is assigned to it, and two numbers of this task.
struct Program {
  Graph g;
  Variable v;
  Output assigned, x, y;

  Program() {
    g.on(there, [&] {
      v = g.variable("v", g.constant(1.0));
      assigned = g.assign(v, g.constant(2.0));
    });
    g.on(here, [&] {
      x = g.constant(3.0);
      y = g.after({assigned}, [&] { return multiply(x, x); });
    });
  }
  std::size_t waits(const Output& of) {
    return without_late_waits(g.def()).node(of.edge.node).controls.size();
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_seen_at_the_end_alone_waits_for_no_other_task) {
  Program p;
  const Output z = p.g.on(here, [&] { return multiply(p.y, p.y); });
  const Output group = p.g.on(here, [&] { return p.g.group({p.assigned, z}); });
  BOOST_TEST(p.waits(p.y) == 0U);
  const GraphDef without = without_late_waits(p.g.def());
  BOOST_TEST((without.node(group.edge.node).controls == std::vector<NodeId>{z.edge.node}));
  const StepGraph step = make_step(p.g.def(), {}, {p.y.edge}, {});
  const NodeId fetched = step.graph.node(step.roots.at(0)).inputs.at(0).node;
  BOOST_TEST(without_late_waits(step.graph).node(fetched).controls.empty());
}

BOOST_AUTO_TEST_CASE(what_an_assignment_takes_or_follows_waits) {
  for (const bool by_control : {false, true}) {
    Program p;
    const auto change = [&] { return p.g.assign(p.v, by_control ? p.x : p.y); };
    by_control ? p.g.after({p.y}, change) : change();
    BOOST_TEST(p.waits(p.y) == 1U, by_control);
  }
}

BOOST_AUTO_TEST_CASE(waits_within_a_task_stay) {
  Program p;
  const Output beside =
      p.g.on(there, [&] { return p.g.after({p.assigned}, [&] { return p.v.value(); }); });
  const Output last = p.g.on(there, [&] {
    return p.g.after({p.assigned, p.x}, [&] { return multiply(beside, beside); });
  });
  BOOST_TEST((without_late_waits(p.g.def()).node(last.edge.node).controls ==
              std::vector<NodeId>{p.assigned.edge.node}));
}

BOOST_AUTO_TEST_SUITE_END()
