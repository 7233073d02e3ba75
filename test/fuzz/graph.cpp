// Graphs (graph.capnp) with the ops of the kernels: as a whole, and as an extension of another.
#include "kernels/core/kernel.h"
#include "kernels/ops.h"
#include "schema/codec/graph_codec.h"
#include "test/fuzz/support/capnp.h"

using namespace actorflow;

namespace {

template <class Read>
auto read(fuzz::Input bytes, Read&& read_from) {
  const auto words = fuzz::to_words(bytes);
  capnp::ReaderOptions options;
  options.traversalLimitInWords = words.size() * 8 + 64;
  capnp::FlatArrayMessageReader message(words, options);
  TransferReceiver no_transfers(heap(), 0);
  TensorReader tensors(heap(), no_transfers);
  return read_from(message.getRoot<wire::Graph>(), tensors, builtin_ops().registry());
}

std::vector<std::byte> encode(const GraphDef& graph) {
  return fuzz::encode<wire::Graph>(
      [&](TensorWriter& tensors, wire::Graph::Builder to) { write_graph(graph, tensors, to); });
}

const GraphDef& small_graph() {
  static const Graph& graph = [&]() -> const Graph& {
    auto& made = *new Graph;
    const Output x = made.placeholder(DType::float32, {2, 3}, "x");
    matmul(x, made.variable("w", fill(made, {3, 4}, 0.5)));
    return made;
  }();
  return graph.def();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz::input(data, size);
  fuzz::reads([&] {
    const GraphDef graph = read(input, read_graph);
    const auto bytes = encode(graph);
    fuzz::require(bytes == encode(read(bytes, read_graph)), "a graph survives being sent");
  });
  fuzz::reads([&] {
    auto nodes = read(input, read_nodes);
    GraphDef graph = small_graph();
    const auto before = graph.size();
    const auto more = static_cast<NodeId>(nodes.size());
    const bool extended = fuzz::accepts([&] { extend_graph(graph, std::move(nodes)); });
    fuzz::require(graph.size() == before + (extended ? more : 0), "an extension is whole or not at all");
  });
  return 0;
}
