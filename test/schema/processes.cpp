// Shared memory between real processes, and kill -9 of either.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "test/schema/support/child_process.h"
#include "test/schema/support/tasks.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::int64_t elements = 3 << 18;  // 3 MiB
// Room for one such tensor, so that a block that is lost is missed.
const RpcOptions small_memory{.shared_memory_bytes = std::size_t{4} << 20};

// Mappings and descriptors of shared memory in this process.
std::size_t traces_of_shared_memory() {
  std::size_t count = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:actorflow") != line.npos;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the directory's own
    count +=
        std::filesystem::read_symlink(entry, gone).string().find("memfd:actorflow") != std::string::npos;
  }
  return count;
}

// False if it does not become true within 60 s.
bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

struct Parent {
  std::unique_ptr<Network> network = make_rpc_network(ops(), heap(), small_memory);
  Receiver receiver{*network, task("ps", 0)};
};

// The child's end of the tests: it answers with a tensor of its own to the parent's address.
struct Child {
  std::unique_ptr<Network> network = make_rpc_network(ops(), heap(), small_memory);
  Receiver receiver{*network, task("worker", 1)};
  Sender sender{*network, std::getenv("ACTORFLOW_TEST_ARGUMENT"), task("worker", 1), {"ps", 0}};

  // Its port, as the number of a step.
  void say_where() {
    const std::string& address = receiver.address();
    sender.link->send(DeregisterGraph{std::stoull(address.substr(address.rfind(':') + 1))});
  }
  [[noreturn]] void wait_for_the_end() {
    while (true) pause();
  }
};

}  // namespace

// Not tests: what the other process runs.
BOOST_AUTO_TEST_SUITE(child, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(sends_a_tensor) {
  Child child;
  child.sender.link->send(TensorDelivery{1, 1, counting(elements)});
  child.wait_for_the_end();
}

BOOST_AUTO_TEST_CASE(holds_a_tensor) {
  Child child;
  child.say_where();
  const auto held = child.receiver.messages.take();
  child.sender.link->send(ReplicaDone{});
  child.wait_for_the_end();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(processes, Parent)

BOOST_AUTO_TEST_CASE(a_tensor_outlives_its_sender_and_leaves_nothing_behind) {
  const std::size_t before = traces_of_shared_memory();
  ChildProcess child("child/sends_a_tensor", receiver.address());
  auto message = receiver.messages.take();
  BOOST_REQUIRE(message);
  BOOST_TEST(!std::get<TensorDelivery>(*message).tensor.exclusive());  // in the child's memory
  BOOST_TEST(traces_of_shared_memory() > before);
  child.kill_now();
  BOOST_REQUIRE(receiver.gone.take());
  BOOST_TEST(identical(std::get<TensorDelivery>(*message).tensor, counting(elements)));
  message.reset();
  BOOST_TEST(eventually([&] { return traces_of_shared_memory() == before; }));
}

BOOST_AUTO_TEST_CASE(what_a_killed_receiver_held_is_free_again) {
  for (int i = 0; i < 3; ++i) {
    ChildProcess child("child/holds_a_tensor", receiver.address());
    const auto where = receiver.messages.take();
    BOOST_REQUIRE(where);
    const auto port = std::to_string(std::get<DeregisterGraph>(*where).handle);
    Sender sender(*network, "127.0.0.1:" + port, task("ps", 0), {"worker", 1});
    const Tensor tensor = counting(elements);
    sender.link->send(TensorDelivery{1, 1, tensor});
    BOOST_REQUIRE(receiver.messages.take());  // the child has it
    BOOST_TEST((sender.link->tensor_path() == TensorPath::shared_memory));
    const auto room = [&] { return Tensor::allocate(DType::float32, {elements}, network->allocator()); };
    // The heap's, for there is no room.
    BOOST_TEST(&room().buffer()->owner() != &network->allocator());
    child.kill_now();
    BOOST_REQUIRE(sender.down.take());
    BOOST_REQUIRE(receiver.gone.take());
    BOOST_TEST(eventually([&] { return &room().buffer()->owner() == &network->allocator(); }));
  }
}

BOOST_AUTO_TEST_SUITE_END()
