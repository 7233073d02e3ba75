// Subgraphs: parts of a graph as values, which ops of control flow have as attributes.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// A part of a graph as a graph of its own.
struct Subgraph {
  GraphDef body;              // its first nodes are Args, one for each input, in order
  std::vector<Edge> outputs;  // of the body

  std::vector<TensorType> input_types() const;
  std::vector<TensorType> output_types() const;
};

// What a function adds to a graph, as a subgraph.
struct Captured {
  SubgraphRef subgraph;
  // The tensors of the graph that the function uses: the subgraph's inputs behind the arguments.
  std::vector<Output> tensors;
};

// Whether a node with these attributes has a subgraph.
bool has_subgraph(const Attrs& attrs);

using GraphFunctionBody = std::function<std::vector<Output>(const std::vector<Output>& arguments)>;

// Calls `body` with arguments of these types, and moves the nodes that it adds out of the graph, where
// nodes without outputs keep their places. Throws invalid_argument, beginning with `what`, for a node
// that is no pure computation, a node of another device than the first, and a variable that is made
// there; and what `body` throws.
Captured capture(Graph& graph, std::string_view what, const std::vector<TensorType>& arguments,
                 const GraphFunctionBody& body);

// Adds the nodes of a subgraph to a graph, for these inputs. Returns its outputs.
std::vector<Output> add_inline(Graph& graph, const Subgraph& subgraph, std::span<const Output> inputs);

// Throws through InferContext::fail unless the subgraph is one that capture() may have made, and fits
// these inputs of the node.
void expect_subgraph(const InferContext& c, std::string_view attribute, const SubgraphRef& subgraph,
                     std::span<const TensorType> inputs);

// What is known of a tensor that has either type: dimensions in which they differ are unknown. REQUIRES:
// one dtype.
TensorType common_type(const TensorType& a, const TensorType& b);

}  // namespace actorflow
