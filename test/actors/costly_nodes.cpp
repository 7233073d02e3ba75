// The actors of nodes: a lane makes one for a node when it hands that over to another thread, and none
// for the others.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <caf/actor_system.hpp>
#include <vector>

#include "actors/client/session.h"
#include "actors/probes/handler_probe.h"
#include "actors/runtime/threaded_runtime.h"
#include "actors/task/server.h"
#include "kernels/ops.h"

BOOST_AUTO_TEST_SUITE(costly_nodes)

using namespace actorflow;

namespace {

// Counts the nodes that lanes hand over, and the actors that have computed some.
class HandedOver final : public HandlerProbe {
 public:
  HandedOver() { handler_probe = this; }
  ~HandedOver() override { handler_probe = nullptr; }

  void made(const HandlerName& handler) override { actors_ += handler.actor == "node"; }
  void before(const HandlerName& handler) override { nodes_ += handler.actor == "node"; }
  void after(const HandlerName&) override {}
  int actors() const { return actors_; }
  int nodes() const { return nodes_; }

 private:
  std::atomic<int> actors_{0}, nodes_{0};
};

// A task whose steps have other threads to hand nodes to.
struct ThreeThreads {
  // How many actors a session and its steps have made.
  std::size_t actors_of(Executor executor, Output fetch, const Feeds& feeds) {
    const auto before = runtime->system().latest_actor_id();
    Session session(server.target(), g, {.executor = executor});
    for (int step = 0; step < 3; ++step) session.run(fetch, feeds);
    return runtime->system().latest_actor_id() - before;
  }

  std::shared_ptr<ThreadedRuntime> runtime =
      std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 3});
  Server server = Server::local(runtime);
  Graph g;
};

// Watched from before the first actor until after the last.
struct Watched {
  HandedOver handed_over;
};
struct WatchedThreads : Watched, ThreeThreads {};

Tensor filled(const Shape& shape, float value) {
  Tensor tensor = Tensor::zeros(DType::float32, shape);
  for (float& element : tensor.mutable_values<float>()) element = value;
  return tensor;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_graph_of_cheap_nodes_has_no_actors_for_them, ThreeThreads) {
  constexpr std::size_t nodes = 60;
  const Output x = g.placeholder(DType::float32, {1, 1}, "x");
  Output y = x;
  for (std::size_t i = 0; i < nodes; ++i) y = matmul(y, x);
  const Feeds one{{x, filled({1, 1}, 1)}};
  BOOST_TEST(actors_of(Executor::node_actors, y, one) >= nodes);
  BOOST_TEST(actors_of(Executor::lanes, y, one) < nodes / 2);
}

BOOST_FIXTURE_TEST_CASE(nodes_that_are_handed_over_have_an_actor_each, WatchedThreads) {
  constexpr int products = 4, size = 256;
  const Output x = g.placeholder(DType::float32, {size, size}, "x");
  std::vector<Output> fetches;
  for (int i = 0; i < products; ++i)
    fetches.push_back(matmul(x, g.constant(filled({size, size}, static_cast<float>(i)))));
  Session session(server.target(), g);
  for (int step = 0; step < 20; ++step) {
    const auto values = session.run(fetches, {{x, filled({size, size}, 2)}});
    for (int i = 0; i < products; ++i)
      BOOST_TEST(values[static_cast<std::size_t>(i)].values<float>()[0] ==
                 static_cast<float>(2 * size * i));
  }
  BOOST_TEST(handed_over.nodes() > 0);
  BOOST_TEST(handed_over.actors() <= products);
}

BOOST_AUTO_TEST_SUITE_END()
