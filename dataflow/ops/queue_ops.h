// Queues of tensors in graphs, as TensorFlow's, and the op that takes elements from an input pipeline.
//
// A queue belongs to a task and is found there by its name, so it outlives steps and sessions and is
// shared by them; the first op that reaches the task makes it. An op that waits ends with its step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/graph/tensor_types.h"

namespace actorflow {

enum class QueueKind : std::uint8_t {
  fifo,            // first in, first out
  random_shuffle,  // any element, drawn by `seed`
  padding_fifo,    // as fifo; where components differ in shape, dequeue_many pads them with zeros
};

std::string_view to_string(QueueKind kind);

struct QueueOptions {
  std::string name;  // by which sessions and tasks share it
  // The types of an element's components. Only a padding queue takes unknown dimensions.
  std::vector<TensorType> components;
  std::int64_t capacity = 0;  // elements; enqueue waits while there are so many
  // random_shuffle: the number of elements that a dequeue leaves to choose from, until the queue is
  // closed.
  std::int64_t min_after_dequeue = 0;
  std::uint64_t seed = 1;
};

// The properties on which all ops of one queue must agree.
struct QueueSpec {
  QueueKind kind = QueueKind::fifo;
  QueueOptions options;

  static QueueSpec of(const Node& node);
  std::string to_string()
      const;  // "random_shuffle queue 'examples' of uint8[28,28] int64[], capacity 100"
  bool operator==(const QueueSpec&) const;
};

// A queue of a graph. Its ops are on the device, and its state in the container, that were in scope when
// it was made; name a task where several tasks use it. The outputs of its functions are targets or
// fetches of a step.
class Queue {
 public:
  Queue(Graph& graph, QueueKind kind, QueueOptions options);

  // Waits while the queue is full. Fails as cancelled when the queue is closed.
  Output enqueue(const std::vector<Output>& element) const;
  // Enqueues the rows of the inputs (their first dimension) as elements, one after the other.
  Output enqueue_many(const std::vector<Output>& elements) const;
  // Waits for an element. Fails as out_of_range when the queue is closed and empty.
  std::vector<Output> dequeue() const;
  // Waits for `count` elements and stacks each component: [count, ...]. Fails as out_of_range when the
  // queue is closed and has fewer, which it keeps.
  std::vector<Output> dequeue_many(std::int64_t count) const;
  // As dequeue_many, but takes the elements that are left, [1 to count, ...], when the queue is closed.
  std::vector<Output> dequeue_up_to(std::int64_t count) const;
  // Closes the queue: it accepts no new element. Enqueues that wait already may still succeed, unless
  // they are cancelled too. Closing it again is no error.
  Output close(bool cancel_pending_enqueues = false) const;
  Output size() const;       // int64
  Output is_closed() const;  // bool

  const std::string& name() const { return spec_.options.name; }

 private:
  Output add(const OpDef& op, const std::vector<Output>& inputs = {}, Attrs more = {}) const;
  std::vector<Output> take(const OpDef& op, Attrs more = {}) const;

  Graph* graph_;
  QueueSpec spec_;
  std::string node_prefix_;
  std::string device_;
};

Queue fifo_queue(Graph& graph, QueueOptions options);
Queue random_shuffle_queue(Graph& graph, QueueOptions options);
Queue padding_fifo_queue(Graph& graph, QueueOptions options);

// The next element of the input `name` that the task serves (Server::serve_input): one tensor per
// component. Fails as out_of_range at the end of the input, which ends a training loop cleanly.
std::vector<Output> iterator_get_next(Graph& graph, const std::string& name,
                                      const std::vector<TensorType>& components);

// Attrs of all of them: queue, kind, capacity, min_after_dequeue, seed, components.
const OpDef& queue_enqueue_op();        // (component...) -> ()
const OpDef& queue_enqueue_many_op();   // (components...) -> ()
const OpDef& queue_dequeue_op();        // () -> component...
const OpDef& queue_dequeue_many_op();   // () -> components...; attr count
const OpDef& queue_dequeue_up_to_op();  // () -> components...; attr count
const OpDef& queue_close_op();          // () -> (); attr cancel_pending_enqueues
const OpDef& queue_size_op();           // () -> int64
const OpDef& queue_is_closed_op();      // () -> bool
const OpDef& iterator_get_next_op();    // () -> component...; attrs iterator, components

std::span<const OpDef* const> queue_ops();

}  // namespace actorflow
