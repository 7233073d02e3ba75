// Tasks that take connections and never say a word.
#include <boost/test/unit_test.hpp>
#include <memory>

#include "actors/actorflow.h"
#include "actors/runtime/threaded_runtime.h"
#include "schema/link.h"
#include "test/support/status_of.h"

using namespace actorflow;
using test::status_of;

namespace {

struct SilentLink final : Link {
  void send(Message) override {}
};

// Listens, and its links are never up nor down.
class SilentNetwork final : public Network {
 public:
  explicit SilentNetwork(Network& real) : real_(real) {}
  std::unique_ptr<Listener> listen(const std::string& address, const TaskIdentity& self,
                                   Inbox inbox) override {
    return real_.listen(address, self, std::move(inbox));
  }
  std::unique_ptr<Link> connect(const std::string&, const TaskIdentity&, const TaskName&,
                                LinkEvents) override {
    return std::make_unique<SilentLink>();
  }
  Allocator& allocator() override { return real_.allocator(); }

 private:
  Network& real_;
};

class SilentRuntime final : public Runtime {
 public:
  caf::actor_system& system() override { return real_.system(); }
  Team& team() override { return real_.team(); }
  Clock& clock() override { return real_.clock(); }
  Random& random() override { return real_.random(); }
  Storage& storage() override { return real_.storage(); }
  const Library& library() const override { return real_.library(); }
  Network& rpc_network() override { return network_; }
  Network& local_network() override { return real_.local_network(); }
  bool wait_until(Clock::time_point end, const std::function<void(Waker&)>& begin,
                  const std::function<void(Waker&)>& give_up) override {
    return real_.wait_until(end, begin, give_up);
  }

 private:
  ThreadedRuntime real_{{.num_threads = 1}};
  SilentNetwork network_{real_.rpc_network()};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(silent_task)

// However long an attempt to connect would last: the end of this server waits for no answer.
BOOST_AUTO_TEST_CASE(a_server_ends_though_a_task_has_never_answered) {
  ServerOptions options;
  options.cluster = ClusterSpec{{"ps", {"127.0.0.1:1"}}, {"worker", {"127.0.0.1:0"}}};
  options.job = "worker";
  options.runtime = std::make_shared<SilentRuntime>();
  {
    Server worker(options);
    Graph g;
    const Output there = g.on("/job:ps/task:0", [&] { return g.constant(1) + g.constant(2); });
    Session session(worker.target(), g);
    const Status status = status_of([&] { session.run({there}, {}, {.timeout_ms = 100}); });
    BOOST_TEST((status.code == Code::deadline_exceeded), status.to_string());
  }
  BOOST_TEST(options.runtime.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
