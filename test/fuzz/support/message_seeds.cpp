#include "dataflow/ops/queue_ops.h"
#include "dataflow/train/replicate.h"
#include "kernels/control/control_flow.h"
#include "kernels/ops.h"
#include "schema/codec/graph_codec.h"
#include "schema/codec/message_bytes.h"
#include "test/fuzz/support/capnp.h"
#include "test/fuzz/support/seeds.h"

namespace actorflow::fuzz {
namespace {

Output image_model(Graph& g, Output images) {
  const Output filter = g.variable("filter", truncated_normal(g, {3, 3, 1, 2}, 0, 0.1, 1));
  const Output ones = fill(g, {2}, 1);
  const auto norm = batch_norm(conv2d(images, filter), ones, ones, 1e-3, true);
  const Output pooled = avg_pool(max_pool(norm.y, 2, 2), {2, 1}, 1, Padding::valid);
  return reshape(layer_norm(pooled, ones, ones), {2, -1});
}

Output word_model(Graph& g, Output words) {
  const Output table = g.variable("table", random_uniform(g, {10, 4}, -1, 1, 2));
  const Output rows = embedding_lookup(table, words);
  const Output sums = unsorted_segment_sum(rows, words, 10);
  return gelu(slice(scatter_add(sums, words, rows), {0, 0}, {2, -1}));
}

// Ops of arithmetic and of shapes.
Output mixture(Graph& g, Output x) {
  const Output mask = logical_and(greater(x, zeros_like(x)), less_equal(x, x * 2));
  const Output chosen = select(mask, sigmoid(x) / (exp(x) + 1), maximum(tanh(x), -x));
  const Output wide = pad(transpose(expand_dims(chosen, {0})), {0, 1, 0}, {1, 0, 0});
  const Output narrow =
      concat({sum(wide, {0, 2}), reshape(cast(argmax(wide, 1), DType::float32), {-1})}, 0);
  const Output y =
      mean(dropout(square(narrow), 0.5, 3, g.constant(std::int64_t{1}))) + max(narrow) * min(narrow);
  const Output halved = while_loop([](const LoopVariables& v) { return v[0] > 1; },
                                   [](const LoopVariables& v) { return v[0] * 0.5; }, y);
  return cond(
      y > 0, [&] { return halved; }, [&] { return -y; });
}

Shape shape_of_tensor(std::initializer_list<std::int64_t> dims) { return Shape(dims); }

std::vector<Tensor> tensors() {
  return {{},
          Tensor::scalar(1.5F),
          Tensor::scalar(true),
          Tensor::of<double>(shape_of_tensor({2, 1}), {1, -1}),
          Tensor::of<std::int32_t>({3}, {1, 2, 3}),
          Tensor::of<std::int64_t>({1, 1, 1, 1, 1, 1, 1, 1}, {5}),
          Tensor::of<std::uint8_t>({0, 3}, {}),
          Tensor::of<std::string>({2}, {"", "text"})};
}

void add_tensor_seeds(const AddSeed& add) {
  for (const auto& tensor : tensors())
    add("tensor", encode<wire::Tensor>(
                      [&](TensorWriter& to, wire::Tensor::Builder root) { to.write(tensor, root); }));
  const auto chunk = [](std::uint64_t offset, unsigned size) {
    return encode<wire::TensorChunk>([&](TensorWriter&, wire::TensorChunk::Builder root) {
      root.setTransfer(7);
      root.setOffset(offset);
      root.setTotal(24);
      root.initData(size)[0] = 1;
    });
  };
  const auto transferred = [](wire::DType dtype, std::int64_t elements) {
    return encode<wire::Tensor>([&](TensorWriter&, wire::Tensor::Builder root) {
      root.setDtype(dtype);
      root.setDims({elements});
      root.setTransfer(7);
    });
  };
  add("tensor", chunk(0, 16) + chunk(16, 8) + transferred(wire::DType::FLOAT32, 6));
  add("tensor", chunk(0, 24) + transferred(wire::DType::STRING, 2));
}

}  // namespace

const GraphDef& training_graph() {
  static const Graph& graph = []() -> const Graph& {
    auto& g = *new Graph;
    const Output images = g.on("/job:worker/task:0", [&] {
      return g.placeholder(DType::float32, {2, 4, 4, 1}, "images");
    });
    const Output words = g.placeholder(DType::int64, {2}, "words");
    const Output features = concat({image_model(g, images), word_model(g, words)}, 1);
    const Output weights = g.variable("weights", fill(g, {features.shape()[1], 3}, 0.1));
    const Output logits = bias_add(matmul(features, weights), g.variable("bias", fill(g, {3}, 0)));
    const Output loss = mean(softmax_cross_entropy(logits, words)) + mixture(g, softmax(logits));
    const Variable step = g.on("/job:ps/task:0", [&] { return global_step(g); });
    minimize(g, loss, g.variables(), step, Adam{},
             {.replica = 1, .replicas = 2, .strategy = Synchronous{}});
    minimize(g, loss, g.variables(), step, Momentum{},
             {.replica = 0, .replicas = 2, .strategy = BoundedStaleness{1}});
    histogram(loss);
    const Queue queue =
        random_shuffle_queue(g, {.name = "q", .components = {{DType::int64, {}}}, .capacity = 9});
    queue.enqueue({g.constant(std::int64_t{3})});
    queue.dequeue_many(2);
    iterator_get_next(g, "input", {{DType::uint8, {2, -1}}, {DType::string, Shape::unknown_rank()}});
    return g;
  }();
  return graph.def();
}

void add_message_seeds(const AddSeed& add) {
  const auto all = tensors();
  const Status fine, failed{Code::aborted, "node 'x' failed"};
  const TaskTrace trace{1, 2, {{"node", "Add", "/job:ps/task:0", 1, 2, 3, "peer", 4}}};
  const std::vector<Message> messages = {
      RegisterGraph{1, training_graph()},
      GraphRegistered{1, failed, 2},
      DeregisterGraph{3},
      RunGraph{1, 2, 3, {{0, all[1]}, {1, all[7]}}, true},
      StepDone{1, fine, {{0, all[3]}}, trace},
      AbortStep{1, failed},
      TensorDelivery{1, 2, all[5]},
      GradientApplied{"c", "a", 1, 2},
      ReplicaDone{},
      Shutdown{"the end"},
      Shutdown{"no disk", Code::disk_error},
      GetStatus{1},
      TaskStatus{1, {{"/cpu:0", "CPU", 1, 2}}},
      ClearContainers{1, {"", "c"}, "s"},
      ContainersCleared{1},
      ActorMessage{"to", "from", "Add{string}", 1, all[7], all[4], failed}};
  for (const auto& message : messages) add("message", encode_message(message));
  add_tensor_seeds(add);
  const auto encoded = [](const GraphDef& graph) {
    return encode<wire::Graph>(
        [&](TensorWriter& to, wire::Graph::Builder root) { write_graph(graph, to, root); });
  };
  add("graph", encoded(training_graph()));
  Graph g;
  const Output c = g.constant(2.0F, "c");
  c + c;
  add("graph", encoded(g.def()));
}

}  // namespace actorflow::fuzz
