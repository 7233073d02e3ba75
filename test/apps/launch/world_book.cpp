#include "apps/launch/elastic/world_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

BOOST_AUTO_TEST_SUITE(world_book)

using namespace actorflow;

namespace {

using namespace std::chrono_literals;
using Kind = WorldOrder::Kind;

// A book, and what it has ordered in words: "0 give", "say world 1: ...".
class Job {
 public:
  explicit Job(WorldRules rules)
      : book(rules, [](int task) { return fmt::format("worker {}", task); }) {}

  std::vector<std::string> after(std::chrono::milliseconds time = 0ms) {
    now += time;
    std::vector<std::string> words;
    for (const auto& order : book.decide(now)) words.push_back(word(order));
    return words;
  }
  // Tasks 0 to n-1 have come.
  void begin(int tasks) {
    for (int task = 0; task < tasks; ++task) book.started(task, now);
    for (int task = 0; task < tasks; ++task) book.joins(task, 0, -1);
    after();
    all_hear();
  }
  void all_hear() {
    for (const int task : book.world().members) book.heard(task, book.world().epoch);
  }
  // The orders of so many seconds, in which the launcher is never held up.
  std::vector<std::string> in(int seconds) {
    std::vector<std::string> all;
    for (int i = 0; i < seconds; ++i)
      for (const auto& word : after(1s)) all.push_back(word);
    return all;
  }

  WorldBook book;
  WorldBook::Time now{1h};

 private:
  static std::string word(const WorldOrder& order) {
    static const std::map<Kind, const char*> names{
        {Kind::give, "give"}, {Kind::change, "change"}, {Kind::over, "over"},      {Kind::end, "end"},
        {Kind::kill, "kill"}, {Kind::say, "say"},       {Kind::end_job, "end_job"}};
    const std::string kind = names.at(order.kind);
    return order.task < 0 ? kind + " " + order.text : std::to_string(order.task) + " " + kind;
  }
};

using Words = std::vector<std::string>;
using Members = std::vector<int>;

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_world_waits_for_all_that_were_started) {
  Job job({.min = 2, .max = 4});
  for (const int task : {0, 1, 2}) job.book.started(task, job.now);
  job.book.joins(2, 0, -1);
  job.book.joins(0, 0, -1);
  BOOST_TEST(job.after() == Words{});
  BOOST_TEST(job.book.is_waiting());
  BOOST_TEST(job.after(2s) == Words{"say waits for worker 1 to begin"});
  BOOST_TEST(job.after(2s) == Words{});
  job.book.joins(1, 0, -1);
  BOOST_TEST(job.after() == (Words{"say world 1: 3 tasks train", "0 give", "1 give", "2 give"}));
  job.all_hear();
  BOOST_TEST(job.after() == Words{});
  BOOST_TEST(!job.book.is_waiting());
}

BOOST_AUTO_TEST_CASE(after_a_loss_the_survivor_with_the_greatest_step_is_first) {
  Job job({.min = 2, .max = 4});
  job.begin(4);
  job.book.gone(1);
  BOOST_TEST(job.after() == (Words{"0 over", "2 over", "3 over"}));
  for (const int task : {0, 2, 3}) job.book.heard(task, 1);
  job.book.joins(0, 1, 117);
  job.book.joins(2, 1, 118);
  BOOST_TEST(job.after(10s) == Words{"say waits for worker 3 to end a step"});
  job.book.joins(3, 1, 118);
  BOOST_TEST(job.after() == (Words{"say world 2: 3 of 4 tasks train on from step 118; worker 1 was lost",
                                   "2 give", "0 give", "3 give"}));
  BOOST_TEST(job.book.world().members == (Members{2, 0, 3}));
}

BOOST_AUTO_TEST_CASE(a_newcomer_is_taken_at_a_step_that_the_members_choose_and_is_never_first) {
  Job job({.min = 1, .max = 3});
  job.begin(2);
  job.book.started(2, job.now);
  BOOST_TEST(job.after() == Words{});
  job.book.joins(2, 0, 500);
  BOOST_TEST(job.after() == (Words{"0 change", "1 change"}));
  job.book.joins(0, 1, 20);
  job.book.joins(1, 1, 20);
  BOOST_TEST(job.after() == (Words{"say world 2: 3 tasks train on from step 20; worker 2 has come",
                                   "0 give", "1 give", "2 give"}));
  job.book.started(3, job.now);
  job.book.joins(3, 0, -1);
  BOOST_TEST(job.after() == Words{});  // there is no room
}

BOOST_AUTO_TEST_CASE(a_task_that_is_started_again_comes_back_as_a_newcomer) {
  Job job({.min = 1, .max = 2});
  job.begin(2);
  job.book.gone(0);
  job.book.started(0, job.now);
  job.after();
  job.book.joins(0, 0, -1);
  job.book.joins(1, 1, 7);
  BOOST_TEST(job.after() ==
             (Words{"say world 2: 2 tasks train on from step 7; worker 0 was lost, worker 0 has come",
                    "1 give", "0 give"}));
}

BOOST_AUTO_TEST_CASE(who_leaves_is_no_loss) {
  Job job({.min = 1, .max = 2});
  job.begin(2);
  job.book.leaves(0);
  BOOST_TEST(job.after() == Words{"1 over"});
  BOOST_TEST(job.book.is_leaving(0));
  job.book.gone(0);
  job.book.joins(1, 1, 7);
  BOOST_TEST(job.after() ==
             (Words{"say world 2: 1 of 2 tasks train on from step 7; worker 0 has left", "1 give"}));
}

BOOST_AUTO_TEST_CASE(below_the_minimum_it_waits_says_so_and_ends) {
  Job job({.min = 2, .max = 2, .patience = 60s});
  job.book.more_may_come(true);
  job.begin(2);
  job.book.gone(1);
  job.after();
  job.book.joins(0, 1, 7);
  BOOST_TEST(job.after() == Words{});
  BOOST_TEST(job.after(2s) ==
             Words{"say worker 1 was lost; 1 of at least 2 tasks is there; waiting for more"});
  BOOST_TEST(job.after(57s) == Words{});
  BOOST_TEST(job.after(2s) ==
             Words{"end_job worker 1 was lost; 1 of at least 2 tasks is there after 60 s"});
  BOOST_TEST(job.after(1h) == Words{});
}

BOOST_AUTO_TEST_CASE(below_the_minimum_it_ends_at_once_if_nobody_can_come) {
  Job job({.min = 2, .max = 2});
  job.begin(2);
  job.book.gone(1);
  job.after();
  job.book.joins(0, 1, 7);
  BOOST_TEST(job.after() ==
             Words{"end_job worker 1 was lost; 1 of at least 2 tasks is there, and no more will come"});
}

BOOST_AUTO_TEST_CASE(members_change_so_often_and_no_more) {
  Job job({.min = 1, .max = 3, .reset_limit = 1});
  job.begin(3);
  job.book.gone(2);
  job.after();
  job.book.joins(0, 1, 7);
  job.book.joins(1, 1, 7);
  job.after();
  BOOST_TEST(job.book.world().epoch == 2);
  job.book.started(2, job.now);
  job.book.joins(2, 0, -1);
  BOOST_TEST(job.after() == Words{});  // not even to grow
  job.book.gone(1);
  job.after();
  job.book.joins(0, 2, 9);
  BOOST_TEST(job.after().back().ends_with("the members have changed 1 times, which is --reset_limit"));
}

BOOST_AUTO_TEST_CASE(the_same_members_anew_count_for_no_change) {
  Job job({.min = 1, .max = 2, .reset_limit = 0});
  job.begin(2);
  job.book.joins(0, 1, 7);
  BOOST_TEST(job.after() == Words{"1 over"});
  job.book.joins(1, 1, 8);
  BOOST_TEST(job.after() == (Words{"say world 2: 2 tasks train on from step 8", "1 give", "0 give"}));
}

BOOST_AUTO_TEST_CASE(a_member_that_does_not_even_read_is_ended) {
  Job job({.min = 1, .max = 3, .silence = 3s});
  job.begin(3);
  job.book.joins(0, 1, 7);
  BOOST_TEST(job.after() == (Words{"1 over", "2 over"}));
  job.book.heard(1, 1);
  BOOST_TEST(job.in(3) == (Words{"say waits for worker 1, worker 2 to end a step",
                                 "say worker 2 has been silent for 3 s, so it is ended", "2 kill"}));
  job.book.gone(2);
  job.book.joins(1, 1, 7);
  BOOST_TEST(job.after() == (Words{"say world 2: 2 of 3 tasks train on from step 7; worker 2 was lost",
                                   "0 give", "1 give"}));
}

BOOST_AUTO_TEST_CASE(a_member_that_does_not_read_its_place_is_ended) {
  Job job({.min = 1, .max = 3, .silence = 3s});
  for (const int task : {0, 1}) job.book.started(task, job.now);
  for (const int task : {0, 1}) job.book.joins(task, 0, -1);
  job.after();
  job.book.heard(0, 1);
  BOOST_TEST(job.after() == Words{});
  BOOST_TEST(job.book.is_waiting());
  BOOST_TEST(job.in(3) == (Words{"say worker 1 has been silent for 3 s, so it is ended", "1 kill"}));
  job.book.gone(1);
  BOOST_TEST(job.after() == Words{"0 over"});
}

// Its place is read before the change: one answer is not one for both.
BOOST_AUTO_TEST_CASE(each_word_is_to_be_answered) {
  Job job({.min = 1, .max = 3, .silence = 3s});
  for (const int task : {0, 1}) job.book.started(task, job.now);
  for (const int task : {0, 1}) job.book.joins(task, 0, -1);
  job.after();
  job.book.joins(0, 1, 7);
  BOOST_TEST(job.after() == Words{"1 over"});
  job.book.heard(1, 1);
  BOOST_TEST(job.in(3) == (Words{"say waits for worker 1 to end a step",
                                 "say worker 1 has been silent for 3 s, so it is ended", "1 kill"}));
  job.book.gone(1);
  BOOST_TEST(job.after().back() == "0 give");
}

BOOST_AUTO_TEST_CASE(nobody_is_ended_for_the_time_in_which_the_launcher_was_held_up) {
  Job job({.min = 1, .max = 3, .silence = 3s});
  job.begin(3);
  job.book.joins(0, 1, 7);
  BOOST_TEST(job.after() == (Words{"1 over", "2 over"}));
  BOOST_TEST(job.after(1h) == Words{"say waits for worker 1, worker 2 to end a step"});
  BOOST_TEST(job.in(2) == Words{});
  for (const int task : {1, 2}) job.book.heard(task, 1);
  BOOST_TEST(job.in(60) == Words{});
}

BOOST_AUTO_TEST_CASE(without_a_survivor_those_who_come_begin_anew) {
  Job job({.min = 1, .max = 2});
  job.begin(2);
  job.book.gone(0);
  job.book.started(0, job.now);
  job.book.gone(1);
  job.book.joins(0, 0, -1);
  BOOST_TEST(
      job.after()[0] ==
      "say world 2: 1 of 2 tasks begin at the newest checkpoint, or anew, as nobody has the state "
      "any more; worker 0, worker 1 were lost, worker 0 has come");
}

BOOST_AUTO_TEST_CASE(whoever_comes_after_the_end_hears_of_it) {
  Job job({.min = 1, .max = 2});
  job.begin(2);
  job.book.complete();
  job.book.gone(0);
  BOOST_TEST(job.after() == Words{});
  job.book.joins(1, 1, 7);
  BOOST_TEST(job.after() == Words{"1 end"});
}

BOOST_AUTO_TEST_SUITE_END()
