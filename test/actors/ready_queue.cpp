#include "actors/runtime/ready_queue.h"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "test/actors/support/failing_memory.h"

BOOST_AUTO_TEST_SUITE(ready_queue)

using namespace actorflow;

namespace {

struct Nothing final : caf::resumable {
  resume_result resume(caf::execution_unit*, std::size_t) override { return done; }
  void intrusive_ptr_add_ref_impl() override {}
  void intrusive_ptr_release_impl() override {}
};

}  // namespace

BOOST_AUTO_TEST_CASE(order_is_kept_while_it_turns_and_grows) {
  std::vector<Nothing> actors(10'000);
  ReadyQueue queue;
  std::size_t pushed = 0, popped = 0;
  const auto pop = [&] { BOOST_TEST_REQUIRE((queue.pop() == &actors[popped++])); };
  for (; pushed < 1500; ++pushed) {  // three in, one out
    queue.push(&actors[pushed]);
    if (pushed % 3 == 0) pop();
  }
  for (; pushed < actors.size(); ++pushed) {  // two out, one in
    queue.push(&actors[pushed]);
    for (int i = 0; i < 2 && !queue.empty(); ++i) pop();
  }
  while (popped < pushed) pop();
  BOOST_TEST(queue.empty());
  BOOST_TEST((queue.pop() == nullptr));
}

BOOST_AUTO_TEST_CASE(adding_to_a_short_queue_takes_no_memory) {
  Nothing actor;
  ReadyQueue queue;
  test::fail_allocation(1);
  for (int i = 0; i < 5000; ++i) {
    queue.push(&actor);
    queue.pop();
  }
  BOOST_TEST(test::allocations_left() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
