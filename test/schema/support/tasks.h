// For tests of networks: tasks that record what they receive.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "dataflow/ops/dataflow_ops.h"
#include "schema/link.h"
#include "schema/rpc/rpc_network.h"

namespace actorflow::test {

// A queue that callbacks fill and a test empties. Waiting has an end, so that a failure is not a hang.
template <class T>
class Mailbox {
 public:
  void put(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  // The next element; empty if nothing comes within 60 s.
  std::optional<T> take() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(60), [this] { return !values_.empty(); }))
      return {};
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    return value;
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> values_;
};

inline const OpRegistry& ops() {
  static const OpRegistry registry(dataflow_ops());
  return registry;
}

inline TaskIdentity task(const std::string& job, int index) {
  return {{job, index}, 1000 + static_cast<std::uint64_t>(index)};
}

// A listening task.
struct Receiver {
  Receiver(Network& network, const TaskIdentity& self, MasterHandler master = {},
           const std::string& address = "127.0.0.1:0")
      : listener(
            network.listen(address, self,
                           {[this](const TaskIdentity& from, Message message) {
                              senders.put(from);
                              messages.put(std::move(message));
                            },
                            [this](const TaskIdentity& from) { gone.put(from); }, std::move(master)})) {}

  const std::string& address() const { return listener->address(); }

  Mailbox<TaskIdentity> senders;
  Mailbox<Message> messages;
  Mailbox<TaskIdentity> gone;
  std::unique_ptr<Listener> listener;
};

// A task that has called another.
struct Sender {
  Sender(Network& network, const std::string& address, const TaskIdentity& self, const TaskName& peer)
      : link(network.connect(address, self, peer,
                             {[this](const TaskIdentity& identity) { up.put(identity); },
                              [this](const Status& status) { down.put(status); }})) {}

  Mailbox<TaskIdentity> up;
  Mailbox<Status> down;
  std::unique_ptr<Link> link;
};

// A tensor whose elements are their own indices.
inline Tensor counting(std::int64_t elements) {
  Tensor tensor = Tensor::allocate(DType::float32, {elements});
  float value = 0;
  for (auto& element : tensor.mutable_values<float>()) element = value++;
  return tensor;
}

}  // namespace actorflow::test
