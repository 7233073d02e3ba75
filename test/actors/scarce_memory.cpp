// What must not fail, or is done again, where there is no memory for it: giving back, and ending.
#include <boost/test/unit_test.hpp>
#include <memory>

#include "actors/actorflow.h"
#include "schema/io/leases.h"
#include "test/actors/support/failing_memory.h"

BOOST_AUTO_TEST_SUITE(scarce_memory)

using namespace actorflow;
using test::allocations_left;
using test::fail_allocation;

// Of three neighbours, in the order in which each leaves a gap of its own, joins one or joins two.
BOOST_AUTO_TEST_CASE(blocks_of_shared_memory_are_given_back_without_an_allocation) {
  const auto arena = SharedArena::create(1 << 20);
  BufferRef first = arena->allocate(4096), second = arena->allocate(4096), third = arena->allocate(4096);
  for (auto* block : {&first, &third, &second}) {
    fail_allocation(1);
    *block = {};
    BOOST_TEST(allocations_left() == 1u);
  }
  BOOST_TEST(arena->bytes_in_use() == 0u);
  BOOST_TEST(static_cast<bool>(arena->try_allocate(1 << 20)));
}

BOOST_AUTO_TEST_CASE(a_payload_that_goes_without_memory_is_told_with_the_next) {
  IoLoop loop([](const std::string&) {});
  int calls = 0;
  const auto leases = std::make_shared<Leases>(loop, [&] { ++calls; });
  BufferRef first = leases->lend(1, 8, heap().allocate(8)),
            second = leases->lend(2, 8, heap().allocate(8));
  fail_allocation(1);
  first = {};
  BOOST_TEST(allocations_left() == 0u);
  loop.run([] {});
  BOOST_TEST(calls == 0);
  second = {};
  loop.run([] {});
  BOOST_TEST(calls == 1);
  BOOST_TEST(leases->take_returned().size() == 2u);
}

// One of the first, which are those of the destructor: later ones are the actor's, whose failure ends
// the process.
BOOST_AUTO_TEST_CASE(an_iterator_ends_after_an_allocation_has_failed) {
  const Dataset numbers = Dataset::tensors({Tensor::of<float>({3}, {1, 2, 3})});
  for (const std::uint64_t n : {1U, 2U, 3U}) {
    auto iterator = std::make_unique<DatasetIterator>(numbers);
    BOOST_TEST(iterator->next().size() == 1u);
    fail_allocation(n);
    iterator.reset();
    BOOST_TEST(allocations_left() == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
