// The network thread and the ways into it, asleep or spinning.
#include "schema/io/io_loop.h"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>

#include "test/schema/support/tasks.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

// Never, for less time than lies between two posts, and all the time.
const std::vector<std::int64_t> spin_times_us{0, 20, 60'000'000};

void hold_for(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// What goes wrong on a loop.
struct Errors : Mailbox<std::string> {
  std::function<void(const std::string&)> hear() {
    return [this](const std::string& error) { put(error); };
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(io_loop, Errors)

// Each task that a thread posts posts another from the loop itself.
BOOST_DATA_TEST_CASE(nothing_is_lost_or_overtaken, boost::unit_test::data::make(spin_times_us),
                     spin_us) {
  constexpr int threads = 4, per_thread = 20'000;
  std::array<int, threads> ran{}, ran_after{};
  int overtaken = 0;
  {
    IoLoop loop(hear(), spin_us);
    std::vector<std::thread> posting;
    for (std::size_t t = 0; t < threads; ++t)
      posting.emplace_back([&, t] {
        for (int i = 0; i < per_thread; ++i)
          loop.post([&, t, i] {
            overtaken += ran[t]++ != i;
            loop.post([&, t, i] { overtaken += ran_after[t]++ != i; });
          });
      });
    for (auto& thread : posting) thread.join();
    loop.run([] {});
    loop.run([] {});  // behind what those have posted
  }
  BOOST_TEST(overtaken == 0);
  for (std::size_t t = 0; t < threads; ++t) {
    BOOST_TEST(ran[t] == per_thread);
    BOOST_TEST(ran_after[t] == per_thread);
  }
}

// The loop goes to sleep about 20 us after a task: those that come just then must not stay behind.
BOOST_AUTO_TEST_CASE(a_task_posted_while_the_loop_falls_asleep_runs) {
  IoLoop loop(hear(), 20);
  Mailbox<int> ran;
  for (int i = 0; i < 5000; ++i) {
    loop.post([&, i] { ran.put(i); });
    BOOST_REQUIRE(ran.take() == i);
    hold_for(std::chrono::microseconds(i % 40));
  }
}

BOOST_DATA_TEST_CASE(time_passes_on_the_loop, boost::unit_test::data::make(spin_times_us), spin_us) {
  IoLoop loop(hear(), spin_us);
  Mailbox<int> fired;
  loop.run([&] {
    for (const int i : {0, 1})
      loop.spawn(loop.timer().afterDelay((1 + i) * kj::MILLISECONDS).then([&, i] { fired.put(i); }));
  });
  BOOST_TEST((fired.take() == 0));
  BOOST_TEST((fired.take() == 1));
}

BOOST_DATA_TEST_CASE(what_is_left_for_later_runs_after_the_task,
                     boost::unit_test::data::make(spin_times_us), spin_us) {
  IoLoop loop(hear(), spin_us);
  Mailbox<int> order;
  loop.post([&] {
    loop.later([&] { order.put(2); });
    order.put(1);
  });
  BOOST_TEST((order.take() == 1));
  BOOST_TEST((order.take() == 2));
}

BOOST_DATA_TEST_CASE(a_task_that_throws_is_reported_and_the_next_one_runs,
                     boost::unit_test::data::make(spin_times_us), spin_us) {
  IoLoop loop([](const std::string& error) { BOOST_ERROR(error); }, spin_us, hear());
  loop.post([] { throw std::runtime_error("broken task"); });
  BOOST_TEST(take().value_or("").find("broken task") != std::string::npos);
  bool ran = false;
  loop.run([&] { ran = true; });
  BOOST_TEST(ran);
  BOOST_CHECK_THROW(loop.run([] { throw std::runtime_error("to the caller"); }), std::runtime_error);
}

BOOST_DATA_TEST_CASE(a_loop_ends_at_once_whatever_it_does, boost::unit_test::data::make(spin_times_us),
                     spin_us) {
  for (int i = 0; i < 200; ++i) {
    auto loop = std::make_unique<IoLoop>(hear(), spin_us);
    bool ran = false;
    loop->post([&] { ran = true; });
    if (i % 2 == 0) hold_for(std::chrono::microseconds(i));
    loop.reset();
    BOOST_REQUIRE(ran);
  }
}

BOOST_AUTO_TEST_SUITE_END()
