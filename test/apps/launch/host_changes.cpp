#include "apps/launch/elastic/host_changes.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(host_changes)

using namespace actorflow;

namespace {

const std::vector<SlotHolder> two_on_a{{0, "a"}, {1, "a"}};

}  // namespace

BOOST_AUTO_TEST_CASE(new_slots_and_hosts_get_tasks_up_to_the_maximum) {
  const auto changes = actorflow::host_changes(two_on_a, {{"a", "", 3}, {"b", "", 4}}, 5);
  BOOST_TEST(changes.end.empty());
  BOOST_TEST(changes.starts == (std::vector<std::string>{"a", "b", "b"}));
}

BOOST_AUTO_TEST_CASE(the_last_tasks_of_a_host_leave_when_it_has_fewer_slots) {
  const auto changes = actorflow::host_changes(two_on_a, {{"a", "", 1}}, 5);
  BOOST_TEST(changes.end == std::vector<int>{1});
  BOOST_TEST(changes.starts.empty());
}

BOOST_AUTO_TEST_CASE(all_tasks_of_a_host_that_is_gone_leave_and_others_take_their_place) {
  const auto changes = actorflow::host_changes(two_on_a, {{"b", "", 2}}, 2);
  BOOST_TEST(changes.end == (std::vector<int>{0, 1}));
  BOOST_TEST(changes.starts == (std::vector<std::string>{"b", "b"}));
}

BOOST_AUTO_TEST_CASE(a_dead_task_keeps_its_slot_but_is_none_of_the_maximum) {
  const std::vector<SlotHolder> one_dead{{0, "a"}, {1, "a", false}};
  BOOST_TEST(actorflow::host_changes(one_dead, {{"a", "", 2}}, 2).starts.empty());
  BOOST_TEST(actorflow::host_changes(one_dead, {{"a", "", 4}}, 2).starts.empty());
  const auto changes = actorflow::host_changes(one_dead, {{"a", "", 2}, {"b", "", 2}}, 2);
  BOOST_TEST(changes.end.empty());
  BOOST_TEST(changes.starts == std::vector<std::string>{"b"});
}

BOOST_AUTO_TEST_CASE(the_same_hosts_change_nothing) {
  const auto changes = actorflow::host_changes(two_on_a, {{"a", "", 2}}, 8);
  BOOST_TEST(changes.end.empty());
  BOOST_TEST(changes.starts.empty());
}

BOOST_AUTO_TEST_SUITE_END()
