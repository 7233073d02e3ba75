#include "apps/launch/keeper/held_ports.h"

#include <boost/test/unit_test.hpp>

#include "test/apps/launch/support/listener.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(held_ports)

using namespace actorflow;
using namespace actorflow::test;

BOOST_AUTO_TEST_CASE(held_ports_are_distinct_and_nobody_else_s_until_they_are_released) {
  HeldPorts ports;
  const auto held = ports.hold(50, 0);
  BOOST_TEST(std::set<int>(held.begin(), held.end()).size() == 50u);
  const int port = held[0];
  BOOST_TEST(listened_ports().contains(port));
  BOOST_TEST(why_unreachable({"127.0.0.1:" + std::to_string(port)}, 3000).at(0) == "");
  HeldPorts others;
  BOOST_CHECK_EXCEPTION(others.hold(1, port), Error, says(std::to_string(port) + " is taken"));
  ports.release(port);
  BOOST_TEST((others.hold(1, port) == std::vector{port}));
}

BOOST_AUTO_TEST_CASE(ports_of_other_processes_on_one_address_are_taken) {
  const Listener listener;
  HeldPorts ports;
  BOOST_CHECK_EXCEPTION(ports.hold(1, listener.port()), Error, says("is taken; give another --port"));
}

BOOST_AUTO_TEST_CASE(ports_above_the_last_one_are_refused) {
  HeldPorts ports;
  BOOST_CHECK_EXCEPTION(ports.hold(2, 65'535), Error, says("give a --port of 65534 at most"));
}

BOOST_AUTO_TEST_CASE(the_reason_why_nobody_answers_is_said) {
  HeldPorts ports;
  const auto held = ports.hold(2, 0);
  ports.release(held[0]);
  const auto reasons = why_unreachable({"127.0.0.1:" + std::to_string(held[0]), "no-such-host.invalid:1",
                                        "127.0.0.1:" + std::to_string(held[1])},
                                       3000);
  BOOST_TEST_REQUIRE(reasons.size() == 3u);
  BOOST_TEST(reasons[0] == "Connection refused");
  BOOST_TEST(reasons[1].starts_with("the name 'no-such-host.invalid' is not known there: "));
  BOOST_TEST(reasons[2] == "");
}

BOOST_AUTO_TEST_SUITE_END()
