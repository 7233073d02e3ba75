// A task whose messages a test writes, beside a real server.
#pragma once

#include <memory>
#include <string>

#include "actors/task/server.h"
#include "kernels/ops.h"
#include "test/schema/support/tasks.h"

namespace actorflow::test {

// Waits until the server holds just that; false if it never does.
bool comes_to_hold(const Server& server, const HeldState& expected);

// "/job:chief/task:0", which speaks as a master to the server of "/job:worker/task:0".
class ForeignChief {
 public:
  ForeignChief();

  void send(Message message) { link_->link->send(std::move(message)); }
  // The next message that the server has sent. REQUIRES: it is an M.
  template <class M>
  M next() {
    auto message = mailbox_->messages.take();
    BOOST_REQUIRE(message);
    BOOST_REQUIRE(std::holds_alternative<M>(*message));
    return std::get<M>(std::move(*message));
  }
  // Registers the graph under the request number, and returns its handle.
  std::uint64_t register_graph(std::uint64_t request, const Graph& graph);
  StepDone run(std::uint64_t handle, StepId step);
  // Breaks the connection to the server.
  void hang_up() { link_.reset(); }

  const Server& server() const { return *server_; }

 private:
  std::unique_ptr<Network> network_;
  std::unique_ptr<Receiver> mailbox_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<test::Sender> link_;
};

// The Recv and Send nodes of a partition.
Output receive(Graph& graph, std::int64_t channel);
void return_value(Graph& graph, Output value, std::int64_t index);

}  // namespace actorflow::test
