// Tensors of 1 GiB between a client and a server, in two processes.
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <fstream>

#include "actors/actorflow.h"
#include "kernels/core/kernel.h"
#include "test/apps/support/process.h"
#include "test/apps/support/process_memory.h"
#include "test/support/ports.h"

using namespace actorflow;
using test::free_addresses;
using test::peak_kib;
using test::Process;

namespace {

constexpr std::int64_t elements = std::int64_t{1} << 28;  // float32: 1 GiB
constexpr std::int64_t kib_of_tensor = elements * 4 / 1024;

void reset_peak(pid_t process) {
  std::ofstream("/proc/" + std::to_string(process) + "/clear_refs") << 5;
}

struct Pair {
  std::string address = free_addresses(1).front();
  Process server{{"actorflow", "server", "--cluster", R"({"ps": [")" + address + R"("]})", "--job", "ps",
                  "--task", "0"}};
  std::string target() { return "actorflow://" + address; }

  std::int64_t peak_of_both() { return peak_kib(getpid()) + peak_kib(server.id()); }
  void reset() {
    reset_peak(getpid());
    reset_peak(server.id());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(large_tensors, Pair)

BOOST_AUTO_TEST_CASE(feeding_and_fetching_1_GiB_takes_at_most_2_5_GiB_in_both_processes_together) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {elements}, "x");
  const Output last = slice(x, {elements - 1}, {1});
  const Output sevens = fill(g, {elements}, 7.0);
  BOOST_REQUIRE(server.prints("listening"));
  Session session(target(), g);
  reset();
  for (int round = 0; round < 3; ++round) {
    {
      // From the pool to which what was fetched goes back, so that there is one block and not two.
      Tensor fed = Tensor::allocate(DType::float32, {elements}, cpu_device().allocator());
      const auto values = fed.mutable_values<float>();
      std::fill(values.begin(), values.end(), static_cast<float>(round));
      BOOST_TEST(session.run(last, {{x, fed}}).values<float>()[0] == static_cast<float>(round));
    }
    const Tensor fetched = session.run(sevens);
    BOOST_TEST(fetched.values<float>()[0] == 7.0F);
    BOOST_TEST(fetched.values<float>()[elements - 1] == 7.0F);
  }
#if defined(__SANITIZE_THREAD__)
  // It notes who used each word last, in four times the room.
  BOOST_TEST(peak_of_both() <= kib_of_tensor * 25 / 2);
#elif defined(__SANITIZE_ADDRESS__)
  // It keeps up to 256 MiB of each process that have been freed, and adds an eighth for its own notes.
  BOOST_TEST(peak_of_both() <= kib_of_tensor * 7 / 2);
#else
  BOOST_TEST(peak_of_both() <= kib_of_tensor * 5 / 2);
#endif
}

BOOST_AUTO_TEST_SUITE_END()
