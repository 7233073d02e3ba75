// A graph with one mistake of every kind, as a client sends it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "schema/worker.capnp.h"

namespace actorflow::test {

inline void write_bad_graph(wire::Graph::Builder graph) {
  auto nodes = graph.initNodes(11);
  const auto add = [&](unsigned i, const char* name, const char* op,
                       std::initializer_list<int> inputs = {}) {
    nodes[i].setName(name);
    nodes[i].setOp(op);
    auto edges = nodes[i].initInputs(static_cast<unsigned>(inputs.size()));
    unsigned k = 0;
    for (const int input : inputs) edges[k++].setNode(input);
    return nodes[i];
  };
  const auto add_placeholder = [&](unsigned i, const char* name, wire::DType dtype, std::int64_t dim) {
    auto attrs = add(i, name, "Placeholder").initAttrs(2);
    attrs[0].setName("dtype");
    attrs[0].setDtype(dtype);
    attrs[1].setName("shape");
    attrs[1].initShape().setDims({dim});
  };
  add(0, "a", "Placholder");
  add(1, "b", "AndAnotherOne");
  add(2, "c", "Identity");       // without its input
  add(3, "d", "Identity", {1});  // of a bad node: no mistake of its own
  add(4, "e", "Identity", {4});  // a cycle
  add_placeholder(5, "x", wire::DType::FLOAT32, 2);
  add_placeholder(6, "y", wire::DType::INT32, 2);
  add_placeholder(7, "z", wire::DType::FLOAT32, 3);
  add(8, "type", "AddN", {5, 6});
  add(9, "shape", "AddN", {5, 7});
  add(10, "device", "NoOp").setDevice("/job:");
}

// What the one answer to it has to name.
inline const std::vector<std::string> mistakes_of_bad_graph{
    "'a'",   "'Placholder'; did you mean 'Placeholder'?",
    "'b'",   "'AndAnotherOne'",
    "'c'",   "'e'",
    "cycle", "'type'",
    "int32", "'shape'",
    "[3]",   "'device'",
    "/job:"};

}  // namespace actorflow::test
