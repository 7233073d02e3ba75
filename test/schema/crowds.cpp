// More connections than a port has room for, which say nothing.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "schema/file_descriptor.h"
#include "test/schema/support/raw_socket.h"
#include "test/schema/support/tasks.h"

BOOST_AUTO_TEST_SUITE(crowds)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// For any thread.
FileDescriptor silent_connection(const std::string& address) {
  FileDescriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(made.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    return FileDescriptor();
  return made;
}

}  // namespace

BOOST_AUTO_TEST_CASE(silent_connections_give_way_to_newer_ones) {
  Mailbox<std::string> warnings;
  const auto network =
      make_rpc_network(ops(), heap(),
                       {.max_connections = 1,
                        .max_strangers = 4,
                        .handshake_timeout_ms = 600'000,
                        .on_warning = [&](const std::string& text) { warnings.put(text); }});
  Receiver receiver(*network, task("ps", 0));
  std::vector<std::unique_ptr<Socket>> sockets;
  for (int i = 0; i < 12; ++i) sockets.push_back(std::make_unique<Socket>(receiver.address()));
  for (int i = 0; i < 8; ++i) sockets[static_cast<std::size_t>(i)]->wait_for_end();
  Sender good(*network, receiver.address(), task("worker", 1), {"ps", 0});
  good.link->send(ReplicaDone{});
  BOOST_TEST(receiver.messages.take().has_value());
  // However many were closed, one is told at once.
  BOOST_TEST(warnings.take().value_or("").find("many others came") != std::string::npos);
  BOOST_TEST(warnings.size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_task_gets_in_among_silent_connections_that_are_renewed_all_the_time) {
  const auto network = make_rpc_network(ops(), heap(), {.max_strangers = 16});
  Receiver receiver(*network, task("ps", 0));
  std::atomic<bool> over{false};
  std::jthread crowd([&] {
    std::deque<FileDescriptor> connections;
    while (!over) {
      connections.push_back(silent_connection(receiver.address()));
      if (connections.size() > 64) connections.pop_front();
    }
  });
  // What had to give way before it could say who it is tries again, as a task does.
  const auto gets_in = [&](int i) {
    Mailbox<bool> is_up;
    const auto link = network->connect(
        receiver.address(), task("worker", i), {"ps", 0},
        {[&](const TaskIdentity&) { is_up.put(true); }, [&](const Status&) { is_up.put(false); }});
    link->send(ReplicaDone{});
    return is_up.take().value_or(false) && receiver.messages.take().has_value();
  };
  for (int i = 0; i < 20; ++i) {
    int tries = 1;
    while (!gets_in(i) && ++tries < 100) continue;
    BOOST_TEST(tries < 100);
  }
  over = true;
}

BOOST_AUTO_TEST_SUITE_END()
