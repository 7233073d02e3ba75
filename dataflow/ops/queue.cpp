#include <utility>

#include "dataflow/graph/containers.h"
#include "dataflow/ops/queue_ops.h"

namespace actorflow {
namespace {}  // namespace

// The size op, which needs nothing, has the queue's mistakes reported here and not at its first use.
Queue::Queue(Graph& graph, QueueKind kind, QueueOptions options)
    : graph_(&graph), spec_{kind, std::move(options)}, node_prefix_(spec_.options.name + "/") {
  if (!container_of(spec_.options.name).empty())
    throw invalid_argument("the name of queue '" + spec_.options.name +
                           "' contains '|', which ends the name of a container");
  if (!spec_.options.name.empty())
    spec_.options.name = in_container(graph.current_container(), spec_.options.name);
  device_ = add(queue_size_op()).node().device;
}

Output Queue::add(const OpDef& op, const std::vector<Output>& inputs, Attrs more) const {
  Attrs attrs = std::move(more);
  attrs["queue"] = spec_.options.name;
  attrs["kind"] = std::string(to_string(spec_.kind));
  attrs["capacity"] = spec_.options.capacity;
  attrs["min_after_dequeue"] = spec_.options.min_after_dequeue;
  attrs["seed"] = static_cast<std::int64_t>(spec_.options.seed);
  attrs["components"] = to_string(spec_.options.components);
  const std::string node_name = node_prefix_ + std::string(op.name);
  return graph_->on(device_, [&] { return graph_->add(op, inputs, std::move(attrs), node_name); });
}

std::vector<Output> Queue::take(const OpDef& op, Attrs more) const {
  return outputs_of(add(op, {}, std::move(more)));
}

Output Queue::enqueue(const std::vector<Output>& element) const {
  return add(queue_enqueue_op(), element);
}
Output Queue::enqueue_many(const std::vector<Output>& elements) const {
  return add(queue_enqueue_many_op(), elements);
}
std::vector<Output> Queue::dequeue() const { return take(queue_dequeue_op()); }
std::vector<Output> Queue::dequeue_many(std::int64_t count) const {
  return take(queue_dequeue_many_op(), {{"count", count}});
}
std::vector<Output> Queue::dequeue_up_to(std::int64_t count) const {
  return take(queue_dequeue_up_to_op(), {{"count", count}});
}
Output Queue::close(bool cancel_pending_enqueues) const {
  return add(queue_close_op(), {}, {{"cancel_pending_enqueues", cancel_pending_enqueues}});
}
Output Queue::size() const { return add(queue_size_op()); }
Output Queue::is_closed() const { return add(queue_is_closed_op()); }

Queue fifo_queue(Graph& graph, QueueOptions options) {
  return Queue(graph, QueueKind::fifo, std::move(options));
}
Queue random_shuffle_queue(Graph& graph, QueueOptions options) {
  return Queue(graph, QueueKind::random_shuffle, std::move(options));
}
Queue padding_fifo_queue(Graph& graph, QueueOptions options) {
  return Queue(graph, QueueKind::padding_fifo, std::move(options));
}

std::vector<Output> iterator_get_next(Graph& graph, const std::string& name,
                                      const std::vector<TensorType>& components) {
  return outputs_of(graph.add(iterator_get_next_op(), {},
                              {{"iterator", name}, {"components", to_string(components)}},
                              name + "/get_next"));
}

}  // namespace actorflow
