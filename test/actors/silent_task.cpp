// Tasks that take connections and never say a word.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>

#include "actors/actorflow.h"
#include "actors/runtime/threaded_runtime.h"
#include "schema/file_descriptor.h"
#include "schema/link.h"
#include "test/support/log_lines.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(silent_task)

using namespace actorflow;
using test::status_of;

namespace {

// A port of loopback: the kernel takes connections, and nobody reads from them.
class SilentPort {
 public:
  SilentPort() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    auto* const address = reinterpret_cast<sockaddr*>(&name);
    BOOST_REQUIRE(bind(socket_.get(), address, size) == 0);
    BOOST_REQUIRE(listen(socket_.get(), 16) == 0);
    BOOST_REQUIRE(getsockname(socket_.get(), address, &size) == 0);
    address_ = fmt::format("127.0.0.1:{}", ntohs(name.sin_port));
  }
  const std::string& address() const { return address_; }

 private:
  FileDescriptor socket_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::string address_;
};

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

ServerOptions worker_beside(const std::string& ps) {
  ServerOptions options;
  options.cluster = ClusterSpec{{"ps", {ps}}, {"worker", {"127.0.0.1:0"}}};
  options.job = "worker";
  return options;
}

// A step of which task ps 0 has a part, given up when it has sent that.
void call_ps(const Server& worker) {
  Graph g;
  const Output there = g.on("/job:ps/task:0", [&] { return g.constant(1) + g.constant(2); });
  Session session(worker.target(), g);
  const Status status = status_of([&] { session.run({there}, {}, {.timeout_ms = 100}); });
  BOOST_TEST((status.code == Code::deadline_exceeded), status.to_string());
}

}  // namespace

// Also while the first attempt to connect lasts.
BOOST_AUTO_TEST_CASE(who_takes_a_connection_and_does_not_answer_is_named) {
  const SilentPort ps;
  test::LogLines log;
  const Server worker(worker_beside(ps.address()));
  call_ps(worker);
  BOOST_TEST(log.come_to_say("no answer yet"), log.all());
  const std::string line =
      "/job:worker/task:0: waiting for /job:ps/task:0 at " + ps.address() + " since ";
  BOOST_TEST(log.all().find(line) != std::string::npos, log.all());
}

// However long an attempt to connect would last: the end of this server waits for no answer.
BOOST_AUTO_TEST_CASE(a_server_ends_though_a_task_has_never_answered) {
  ServerOptions options = worker_beside("127.0.0.1:1");
  options.runtime = std::make_shared<SilentRuntime>();
  {
    const Server worker(options);
    call_ps(worker);
  }
  BOOST_TEST(options.runtime.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
