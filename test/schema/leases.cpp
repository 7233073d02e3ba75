// Payloads that outlive the connection on which they came.
#include "schema/io/leases.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(leases)

using namespace actorflow;

BOOST_AUTO_TEST_CASE(what_has_been_posted_before_the_end_does_not_call_whoever_has_left) {
  IoLoop loop([](const std::string&) {});
  int calls = 0;
  const auto leases = std::make_shared<Leases>(loop, [&] { ++calls; });
  BufferRef first = leases->lend(1, 8, heap().allocate(8));
  const BufferRef second = leases->lend(2, 8, heap().allocate(8));
  loop.run([&] {
    first = {};  // its call waits behind this task
    leases->detach();
  });
  loop.run([] {});
  loop.run([] {});
  BOOST_TEST(calls == 0);
  BOOST_TEST(leases->take_returned().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_payload_that_goes_is_told_on_the_loop) {
  IoLoop loop([](const std::string&) {});
  int calls = 0;
  std::shared_ptr<Leases> leases;
  leases = std::make_shared<Leases>(loop, [&] { calls += !leases->take_returned().empty(); });
  leases->lend(1, 8, heap().allocate(8));
  loop.run([] {});
  BOOST_TEST(calls == 1);
  BOOST_TEST(leases->empty());
}

BOOST_AUTO_TEST_SUITE_END()
