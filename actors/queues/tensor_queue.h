// One queue of a task: its elements, and those who wait to put some in or to take some out.
#pragma once

#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "actors/core/messages.h"
#include "dataflow/ops/queue_ops.h"

namespace actorflow {

// Follows TensorFlow's queues: whoever waits is served in the order in which they came, and a dequeue of
// many takes elements as they come, so that `count` may exceed the capacity. Not thread-safe: it belongs
// to a queue shard. Outcomes go to the lanes that asked.
class TensorQueue {
 public:
  explicit TensorQueue(QueueSpec spec);

  const QueueSpec& spec() const { return spec_; }

  // Who waits: `epoch` is that of its step's session.
  struct Asker {
    ReplyTo reply_to;
    FencingEpoch epoch = 0;
  };

  // The element waits for room. Throws cancelled if the queue is closed, invalid_argument if the element
  // is not of the queue's types.
  void enqueue(const Asker& asker, Tuple element);
  // The same for the rows of `columns`.
  void enqueue_many(const Asker& asker, Tuple columns);
  void dequeue(const Asker& asker);
  // `fewer`: takes what there is when the queue is closed.
  void dequeue_many(const Asker& asker, std::int64_t count, bool fewer);
  void close(bool cancel_pending_enqueues);
  // Forgets what a step waits for; elements that it had already taken go back.
  void give_up(StepId step);
  // The same for all steps of an earlier life of the job: of epochs below `epoch`, but for 0, which is
  // that of sessions that belong to no job. They are told the reason.
  void fence(FencingEpoch epoch, const Status& reason);
  // Tells everybody who waits; the queue is not used again.
  void abandon(const Status& reason) const;

  std::int64_t size() const { return static_cast<std::int64_t>(elements_.size()); }
  bool closed() const { return closed_; }
  // Who waits and for what; "" if nobody does.
  std::string waiting() const;
  // How many have waited and been served: stands still while all wait.
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
  // Those for whose askers `which` is true wait no longer.
  void drop(const std::function<bool(const Asker&)>& which);
  void advance();
  // Each does one thing, if it can. What is thrown meanwhile is the answer to the one for whom it was done.
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
