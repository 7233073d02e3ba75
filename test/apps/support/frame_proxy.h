// A port that stands before a task's, and may repeat, hold back or change what comes to it.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace actorflow::test {

// Passes connections on to a task. What a caller writes is taken apart into the frames of the control
// lane (schema/worker.capnp); a bulk lane, and all that goes back, pass as they are. Ends all
// connections with the object. Thread-safe.
class FrameProxy {
 public:
  // A message of the RPC, or a delivery of messages between tasks, with its segment table.
  struct Frame {
    bool is_delivery = false;
    std::string bytes;
  };
  using Send = std::function<void(const std::string& bytes)>;
  // One connection's way: is told of each frame, and sends what goes on in its place. For one thread.
  using Way = std::function<void(const Frame&, const Send&)>;

  // `make_way` is called for each connection, by several threads, one at a time.
  FrameProxy(std::string target, std::function<Way()> make_way);
  FrameProxy(const FrameProxy&) = delete;
  FrameProxy& operator=(const FrameProxy&) = delete;
  ~FrameProxy();

  const std::string& address() const { return address_; }
  // Ends the connections that are there. Others may begin.
  void cut();

 private:
  void accept_all();
  void begin(int caller);

  const std::string target_;
  const std::function<Way()> make_way_;
  const int listener_;
  const std::string address_;
  std::mutex mutex_;
  bool over_ = false;
  std::vector<int> sockets_;
  std::list<std::jthread> carriers_;
  std::jthread acceptor_;
};

}  // namespace actorflow::test
