#include "apps/launch/elastic/host_book.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>

BOOST_AUTO_TEST_SUITE(host_book)

using namespace actorflow;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

// A book, a clock, and a launcher that carries out the orders.
struct Hosts {
  std::optional<HostBook> book;
  HostBook::Time now{std::chrono::hours(1)};
  int next_task = 0;
  std::map<int, std::string> host_of;       // by task
  std::vector<std::string> asked, started;  // since the last decide()
  std::vector<int> told_to_leave;

  // Of `most` tasks; the hosts are ready.
  void begin(int most, const std::vector<LaunchHost>& ready, std::optional<GrowingPause> cooldown = {}) {
    book.emplace(HostRules{.most = most, .cooldown = cooldown});
    book->listed(ready);
    for (const auto& host : ready) book->answered(host.name, now);
    decide();
  }
  void list(std::vector<LaunchHost> hosts) {
    book->listed(std::move(hosts));
    decide();
  }
  void decide(milliseconds later = {}) {
    now += later;
    asked.clear(), started.clear(), told_to_leave.clear();
    for (const auto& order : book->decide(now)) carry_out(order);
  }
  void carry_out(const HostOrder& order) {
    using Kind = HostOrder::Kind;
    if (order.kind == Kind::ask) asked.push_back(order.host);
    if (order.kind == Kind::give_up) book->failed(order.host, now);
    if (order.kind == Kind::leave) told_to_leave.push_back(order.task);
    if (order.kind != Kind::start) return;
    host_of[next_task] = order.host;
    book->started(order.host, next_task++);
    started.push_back(order.host);
  }
  void answers(const std::string& host) {
    book->answered(host, now);
    decide();
  }
  // Asked again as soon as may be, the host fails again. Returns the pause between.
  milliseconds fails_again(const std::string& host) {
    const auto pause = book->failed(host, now);
    decide();
    BOOST_TEST(asked.empty());
    decide(*pause - milliseconds(1));
    BOOST_TEST(asked.empty());
    BOOST_TEST((book->next_look(now) == now + milliseconds(1)));
    decide(milliseconds(1));
    BOOST_TEST(asked == Names{host});
    return *pause;
  }

  // How many tasks have slots of each host.
  std::map<std::string, int> tasks() const {
    std::map<std::string, int> counts;
    for (const auto& [task, host] : host_of)
      if (book->has_slot(task)) ++counts[host];
    return counts;
  }

  using Names = std::vector<std::string>;
};

// Three hosts, of which some are listed, answer, fail, and lose tasks.
struct RandomHosts : Hosts {
  explicit RandomHosts(unsigned seed) : random(seed) {
    begin(4, {{"a", "", 1}}, GrowingPause(seconds(5), seconds(60)));
  }
  int draw(int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); }

  void random_event() {
    const std::string& host = names[static_cast<std::size_t>(draw(3))];
    const int kind = draw(4);
    if (kind == 0) list_some();
    if (kind == 1 && book->is_asked(host)) book->answered(host, now);
    if (kind == 2 && (book->is_asked(host) || book->is_ready(host))) book->failed(host, now);
    if (kind == 3 && next_task > 0) book->ended(draw(next_task), now);
  }
  void list_some() {
    std::vector<LaunchHost> hosts;
    slots.clear();
    for (const auto& name : names) slots[name] = draw(4);
    for (const auto& [name, count] : slots)
      if (count > 0) hosts.push_back({name, "", count});
    book->listed(std::move(hosts));
  }
  // Hosts answer, and nothing fails, until all pauses are over.
  void let_all_be_well() {
    for (int minute = 0; minute < 20; ++minute) {
      for (const auto& name : names)
        if (book->is_asked(name)) book->answered(name, now);
      decide(minutes(1));
    }
  }
  int num_slots() const {
    int sum = 0;
    for (const auto& [name, count] : slots) sum += count;
    return sum;
  }
  int num_tasks() const {
    int sum = 0;
    for (const auto& [name, count] : tasks()) sum += count;
    return sum;
  }

  const Names names{"a", "b", "c"};
  std::mt19937 random;
  std::map<std::string, int> slots{{"a", 1}};
};

const LaunchHost one_on_a{"a", "", 1}, two_on_a{"a", "", 2}, two_on_b{"b", "", 2};

}  // namespace

BOOST_FIXTURE_TEST_CASE(all_slots_of_ready_hosts_get_tasks_up_to_the_maximum, Hosts) {
  begin(3, {two_on_a, two_on_b});
  BOOST_TEST(started == (Names{"a", "a", "b"}));
  decide(minutes(1));
  BOOST_TEST(started.empty());
  BOOST_TEST((book->next_look(now) == HostBook::Time::max()));
}

BOOST_FIXTURE_TEST_CASE(a_host_that_comes_is_asked_first_and_gets_its_tasks_when_it_has_answered,
                        Hosts) {
  begin(5, {two_on_a});
  list({two_on_a, two_on_b});
  BOOST_TEST(asked == Names{"b"});
  BOOST_TEST(started.empty());
  decide(seconds(1));
  BOOST_TEST(asked.empty());
  answers("b");
  BOOST_TEST(started == (Names{"b", "b"}));
}

BOOST_FIXTURE_TEST_CASE(slots_are_kept_for_a_host_that_is_asked, Hosts) {
  begin(2, {one_on_a});
  list({one_on_a, two_on_b});
  list({one_on_a, two_on_b, {"c", "", 1}});
  BOOST_TEST(asked.empty());
  decide(seconds(12));  // b does not answer
  decide();
  BOOST_TEST(asked == Names{"c"});
}

BOOST_FIXTURE_TEST_CASE(the_last_tasks_of_a_host_leave_when_it_has_fewer_slots, Hosts) {
  begin(5, {two_on_a});
  list({one_on_a});
  BOOST_TEST(told_to_leave == std::vector<int>{1});
  BOOST_TEST(book->has_slot(0));
  BOOST_TEST(!book->has_slot(1));
  BOOST_TEST(!book->ended(1, now));
  list({two_on_a});
  BOOST_TEST(started == Names{"a"});
}

BOOST_FIXTURE_TEST_CASE(all_tasks_of_a_host_that_is_dropped_leave_and_others_take_their_place, Hosts) {
  begin(2, {two_on_a, two_on_b});
  list({two_on_b});
  BOOST_TEST(told_to_leave == (std::vector<int>{1, 0}));
  BOOST_TEST(started == (Names{"b", "b"}));
}

BOOST_FIXTURE_TEST_CASE(a_host_on_which_a_task_has_ended_gets_none_and_another_one_does, Hosts) {
  begin(2, {two_on_a});
  const auto closing = book->ended(1, now);
  BOOST_REQUIRE(closing);
  BOOST_TEST(closing->host == "a");
  BOOST_TEST(!closing->pause);
  decide(minutes(60));
  BOOST_TEST(started.empty());
  list({{"a", "", 4}, two_on_b});
  BOOST_TEST(asked == Names{"b"});
  BOOST_TEST(told_to_leave.empty());
  answers("b");
  BOOST_TEST(started == Names{"b"});
  BOOST_TEST(!book->ended(0, now), "it is closed already");
}

BOOST_FIXTURE_TEST_CASE(a_closed_host_that_is_dropped_and_listed_anew_gets_tasks, Hosts) {
  begin(1, {one_on_a});
  book->ended(0, now);
  list({two_on_b});
  list({one_on_a});
  BOOST_TEST(started == Names{"a"});
}

BOOST_FIXTURE_TEST_CASE(a_closed_host_that_is_lost_and_comes_back_gets_tasks, Hosts) {
  begin(1, {one_on_a});
  book->ended(0, now);
  book->failed("a", now);
  decide(seconds(10));
  BOOST_TEST(asked == Names{"a"});
  answers("a");
  BOOST_TEST(started == Names{"a"});
}

BOOST_FIXTURE_TEST_CASE(a_cooldown_opens_a_host_again_and_grows, Hosts) {
  begin(1, {one_on_a}, GrowingPause(seconds(30), seconds(100)));
  for (const int pause : {30, 60, 100, 100}) {
    const auto closing = book->ended(next_task - 1, now);
    BOOST_REQUIRE((closing && closing->pause));
    BOOST_TEST(closing->pause->count() == 1000 * pause);
    decide(seconds(pause) - milliseconds(1));
    BOOST_TEST(started.empty());
    BOOST_TEST((book->next_look(now) == now + milliseconds(1)));
    decide(milliseconds(1));
    BOOST_TEST(started == Names{"a"});
  }
  now += seconds(100);  // nothing went wrong
  BOOST_TEST(book->ended(next_task - 1, now)->pause->count() == 30'000);
}

BOOST_FIXTURE_TEST_CASE(a_host_that_fails_is_asked_again_after_pauses_that_grow, Hosts) {
  begin(2, {one_on_a});
  list({one_on_a, two_on_b});
  for (const int pause : {10, 20, 40, 80, 160, 300, 300})
    BOOST_TEST(fails_again("b").count() == 1000 * pause);
  answers("b");
  BOOST_TEST(started == Names{"b"});
  now += minutes(5);
  BOOST_TEST(fails_again("b").count() == 10'000);
}

BOOST_FIXTURE_TEST_CASE(a_host_that_is_lost_loses_its_tasks_and_others_take_their_place, Hosts) {
  begin(2, {two_on_a, two_on_b});
  book->failed("a", now);
  BOOST_TEST(!book->has_slot(0));
  decide();
  BOOST_TEST(started == (Names{"b", "b"}));
}

BOOST_FIXTURE_TEST_CASE(a_host_that_was_dropped_is_not_asked_again_when_it_fails, Hosts) {
  begin(2, {one_on_a});
  list({one_on_a, two_on_b});
  list({one_on_a});
  BOOST_TEST(!book->failed("b", now));
  decide(minutes(1));
  BOOST_TEST(asked.empty());
}

BOOST_FIXTURE_TEST_CASE(a_host_that_does_not_answer_is_given_up_in_time, Hosts) {
  begin(2, {one_on_a});
  list({one_on_a, two_on_b});
  BOOST_TEST((book->next_look(now) == now + seconds(12)));
  BOOST_TEST(book->decide(now + seconds(12) - milliseconds(1)).empty());
  BOOST_TEST((book->decide(now + seconds(12)) ==
              std::vector<HostOrder>{{.kind = HostOrder::Kind::give_up, .host = "b"}}));
}

BOOST_AUTO_TEST_CASE(no_schedule_of_events_exceeds_slots_or_the_maximum_or_leaves_a_place_empty) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomHosts job(seed);
    for (int event = 0; event < 50; ++event) {
      job.random_event();
      job.decide(seconds(job.draw(20)));
      for (const auto& [host, tasks] : job.tasks()) BOOST_REQUIRE(tasks <= job.slots[host]);
      BOOST_REQUIRE(job.num_tasks() <= 4);
    }
    job.let_all_be_well();
    BOOST_TEST(job.num_tasks() == std::min(job.num_slots(), 4), "seed " << seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
