// One queue of a task: its elements and the waiting enqueue and dequeue ops.
#pragma once

#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "actors/core/messages.h"
#include "dataflow/ops/queue_ops.h"

namespace actorflow {

// Follows TensorFlow's queues: waiting ops are served in the order of their arrival, and a dequeue of
// many takes elements as they come, so `count` may exceed the capacity. Not thread-safe: it belongs to a
// queue shard. Results are sent to the lanes that asked.
class TensorQueue {
 public:
  explicit TensorQueue(QueueSpec spec);

  const QueueSpec& spec() const { return spec_; }

  // An op that asks; `epoch` is that of its step's session.
  struct Asker {
    ReplyTo reply_to;
    FencingEpoch epoch = 0;
  };

  // Adds the element when there is room. Throws cancelled if the queue is closed, invalid_argument if
  // the element does not have the queue's types.
  void enqueue(const Asker& asker, Tuple element);
  // Adds the rows of `columns` as elements.
  void enqueue_many(const Asker& asker, Tuple columns);
  void dequeue(const Asker& asker);
  // `fewer`: takes the remaining elements when the queue is closed.
  void dequeue_many(const Asker& asker, std::int64_t count, bool fewer);
  void close(bool cancel_pending_enqueues);
  // Drops the waiting ops of a step; elements that they had already taken go back.
  void give_up(StepId step);
  // Drops the waiting ops of all steps of an earlier life of the job, with the reason as answer: of
  // epochs below `epoch`, except 0, that of sessions that belong to no job.
  void fence(FencingEpoch epoch, const Status& reason);
  // Answers all waiting ops; the queue must not be used again.
  void abandon(const Status& reason) const;

  std::int64_t size() const { return static_cast<std::int64_t>(elements_.size()); }
  bool closed() const { return closed_; }
  // A description of the waiting ops; "" if there are none.
  std::string waiting() const;
  // The number of ops that have been served after waiting; constant while all wait.
  std::uint64_t served() const { return served_; }

 private:
  struct Enqueue {
    Asker asker;
    Tuple values;
    std::int64_t rows = 0;  // 0: `values` is one element
    std::int64_t next = 0;
  };
  struct Dequeue {
    Asker asker;
    std::int64_t count = 1;
    bool stacked = false;
    bool fewer = false;
    std::vector<Tuple> taken = {};
  };

  void check_open() const;
  // Drops the waiting ops for whose askers `which` is true.
  void drop(const std::function<bool(const Asker&)>& which);
  void advance();
  // Each does one thing, if it can. An exception is the answer to the op for which it was done.
  bool take_in();
  bool hand_out();
  enum class Handed : std::uint8_t { nothing, an_element, all };
  Handed hand_out(Dequeue& first);
  std::int64_t available() const;
  Tuple draw();
  void finish(Dequeue& first);
  void refuse(Dequeue& first);
  void put_back(std::vector<Tuple>& elements);

  QueueSpec spec_;
  std::mt19937_64 random_;
  std::deque<Tuple> elements_;
  std::deque<Enqueue> enqueues_;
  std::deque<Dequeue> dequeues_;
  bool closed_ = false;
  std::uint64_t served_ = 0;
};

}  // namespace actorflow
