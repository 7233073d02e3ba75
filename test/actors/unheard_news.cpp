// News of the end of groups that other tasks have still to hear.
#include "actors/collectives/engine/unheard_news.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(unheard_news)

using namespace actorflow;

namespace {

const Sender one{TaskId{1}, 7}, two{TaskId{2}, 7};

struct Waiting {
  int answers = 0;
  std::function<void(bool)> reply = [this](bool) { ++answers; };
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(whoever_waits_is_answered_once_all_have_heard, Waiting) {
  UnheardNews news;
  const auto to_one = news.number_for(one), to_two = news.number_for(two);
  news.when_heard(reply);
  news.heard(one, to_one);
  news.heard(one, to_two);  // it speaks for itself only
  BOOST_TEST(answers == 0);
  news.heard(two, to_two);
  BOOST_TEST(answers == 1);
  news.when_heard(reply);
  BOOST_TEST(answers == 2);
}

BOOST_FIXTURE_TEST_CASE(a_lost_task_is_not_waited_for, Waiting) {
  UnheardNews news;
  news.number_for(one);
  news.when_heard(reply);
  news.lose({one.task, 6, {}});
  BOOST_TEST(answers == 0);
  news.lose({one.task, 7, {}});
  BOOST_TEST(answers == 1);
  BOOST_TEST(news.number_for(one) == 0U);
  BOOST_TEST(news.number_for({one.task, 8}) != 0U);
}

BOOST_FIXTURE_TEST_CASE(the_wait_can_be_given_up, Waiting) {
  UnheardNews news;
  news.number_for(one);
  news.when_heard(reply);
  news.give_up();
  BOOST_TEST(answers == 1);
}

BOOST_AUTO_TEST_SUITE_END()
