// Bytes on a port that are no Cap'n Proto, or pretend to be much of it.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <random>
#include <vector>

#include "test/schema/support/raw_socket.h"
#include "test/schema/support/tasks.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

Bytes words(std::initializer_list<std::uint32_t> values) {
  Bytes bytes;
  for (const auto value : values) {
    const auto* begin = reinterpret_cast<const char*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof value);
  }
  return bytes;
}

Bytes random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 generator(seed);
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<char>(generator());
  return bytes;
}

Bytes with_zeros(Bytes bytes, std::size_t size) {
  bytes.resize(bytes.size() + size);
  return bytes;
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

#ifdef __SANITIZE_ADDRESS__
constexpr std::int64_t max_growth = 64 << 20;  // the sanitizer keeps freed memory
#else
constexpr std::int64_t max_growth = 4 << 20;
#endif

struct ListeningPort {
  void exchange_a_message() {
    Sender good(*network, receiver.address(), task("worker", 1), {"ps", 0});
    good.link->send(ReplicaDone{});
    BOOST_TEST(receiver.messages.take().has_value());
  }

  std::unique_ptr<Network> network = make_rpc_network(ops(), heap(), {.handshake_timeout_ms = 500});
  Receiver receiver{*network, task("ps", 0)};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hostile_bytes, ListeningPort)

BOOST_AUTO_TEST_CASE(whatever_comes_is_closed_costs_no_memory_and_leaves_others_alone) {
  Sender steady(*network, receiver.address(), task("worker", 2), {"ps", 0});
  exchange_a_message();
  std::vector<Bytes> attacks = {
      words({0xffffffff, 0xffffffff}),            // segments without end
      words({511, 1}),                            // a table that never comes
      words({0, 0x7fffffff}),                     // 16 GiB
      words({0, 8u << 20}),                       // the most that a friend may send
      with_zeros(words({0, 8u << 20}), 8 << 20),  // and a good part of it
      with_zeros(words({3, 1u << 20, 1u << 20, 1u << 20, 1u << 20, 0}), 1 << 20),
      words({0, 4, 0, 0}),                             // truncated
      with_zeros(words({0, 0, 0, 0, 0, 0}), 1 << 20),  // empty messages, for ever
      with_zeros({}, 1 << 20),
  };
  for (unsigned seed = 0; seed < 50; ++seed)
    attacks.push_back(random_bytes(std::size_t{1} << (seed % 17), seed));
  const auto before = resident_bytes();
  for (const auto& attack : attacks) {
    Socket socket(receiver.address());
    socket.write(attack);
    socket.wait_for_end();
  }
  const auto growth = resident_bytes() - before;
  BOOST_TEST(growth < max_growth);
  exchange_a_message();
  steady.link->send(Shutdown{"still here"});
  const auto message = receiver.messages.take();
  BOOST_TEST((message && std::holds_alternative<Shutdown>(*message)));
}

BOOST_AUTO_TEST_CASE(a_peer_that_says_nothing_is_closed) {
  Socket socket(receiver.address());
  socket.wait_for_end();
  exchange_a_message();
}

BOOST_AUTO_TEST_CASE(many_silent_connections_are_closed_and_a_good_one_gets_through) {
  std::vector<std::unique_ptr<Socket>> sockets;
  for (int i = 0; i < 100; ++i) sockets.push_back(std::make_unique<Socket>(receiver.address()));
  exchange_a_message();
  for (auto& socket : sockets) socket->wait_for_end();
}

BOOST_AUTO_TEST_SUITE_END()
