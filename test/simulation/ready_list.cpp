#include "actors/simulation/world/ready_list.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "actors/simulation/world/schedule.h"

BOOST_AUTO_TEST_SUITE(ready_list)

using namespace actorflow;

namespace {

struct Value {
  std::uint64_t number = 0;
  std::shared_ptr<int> held;
};

std::vector<std::uint64_t> numbers(const ReadyList<Value>& list) {
  return {list.numbers().begin(), list.numbers().end()};
}

}  // namespace

// A vector, from whose middle values are erased, is the model.
BOOST_AUTO_TEST_CASE(keeps_its_order_whatever_is_taken) {
  SeededRandom random(7);
  ReadyList<Value> list;
  std::vector<std::uint64_t> model;
  for (std::uint64_t number = 0; number < 2000; ++number) {
    if (model.empty() || random.chance(0.6)) {
      list.push_back({number, nullptr});
      model.push_back(number);
    } else {
      const auto at = static_cast<std::size_t>(random.below(model.size()));
      BOOST_REQUIRE(list.take(at).number == model[at]);
      model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
    }
    BOOST_REQUIRE(numbers(list) == model);
  }
  const auto is_even = [](std::uint64_t number) { return number % 2 == 0; };
  list.erase_if([&](const Value& value) { return is_even(value.number); });
  std::erase_if(model, is_even);
  BOOST_TEST(numbers(list) == model);
  BOOST_TEST(list.take_last().number == model.back());
}

BOOST_AUTO_TEST_CASE(what_was_taken_is_not_held_any_more) {
  ReadyList<Value> list;
  const auto held = std::make_shared<int>();
  list.push_back({1, held});
  list.push_back({2, held});
  list.take(0);
  list.erase_if([](const Value&) { return true; });
  BOOST_TEST(list.empty());
  BOOST_TEST(held.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
