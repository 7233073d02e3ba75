@0x8c8f9ecaf020321b;
# Graphs on the wire: topologically sorted nodes. What a receiver does not know - an op, an attribute, a
# type that does not fit - it refuses; nothing in a graph is code.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("actorflow::wire");
using T = import "tensor.capnp";

struct Graph {
  nodes @0 :List(Node);
  # Inputs and controls refer to earlier nodes only.
}

struct Subgraph {
  body @0 :Graph;
  # Its first nodes are Args, one for each input, in order.
  outputs @1 :List(Node.Edge);
}

struct Node {
  name @0 :Text;
  # Unique in the graph.
  op @1 :Text;
  inputs @2 :List(Edge);
  controls @3 :List(Int32);
  # Positions of nodes that run before this one.
  attrs @4 :List(Attr);
  device @5 :Text;
  # Full or partial, for example "/job:ps/task:0"; "" = anywhere.

  struct Edge {
    node @0 :Int32;
    output @1 :Int32;
  }

  struct Attr {
    name @0 :Text;
    union {
      boolean @1 :Bool;
      int64 @2 :Int64;
      float64 @3 :Float64;
      string @4 :Data;
      dtype @5 :T.DType;
      shape @6 :T.Shape;
      tensor @7 :T.Tensor;
      int64s @8 :List(Int64);
      float64s @9 :List(Float64);
      subgraph @10 :Subgraph;
    }
  }
}
