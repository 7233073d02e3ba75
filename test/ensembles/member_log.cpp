// What the log says while members train.
#include "actors/ensembles/member_log.h"

#include <boost/test/unit_test.hpp>
#include <chrono>

#include "actors/models/model.h"
#include "test/ensembles/support/flowers.h"
#include "test/support/log_lines.h"
#include "test/support/only_clock.h"

BOOST_AUTO_TEST_SUITE(member_log)

using namespace actorflow;
using namespace actorflow::test;
using namespace std::chrono_literals;

namespace {

// Time passes when the test says so.
class ClockAlone final : public OnlyClock {
 public:
  void pass(std::chrono::seconds time) { now_ += time; }
};

Logs loss(double value) {
  Logs logs;
  logs.set("loss", value);
  return logs;
}

struct Training {
  explicit Training(const std::string& task) : log(task), member(log.callback_for("member 3")) {
    member->on_train_begin(fit);
    member->on_epoch_begin(fit, 1);
  }

  ClockAlone time;
  Model model = sequential({dense(3)});
  FitContext fit{model, time, {}, 4};
  MemberLog log;
  CallbackRef member;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_member_says_in_between_how_far_it_is_but_not_all_the_time) {
  LogLines said;
  Training of(" on task 2");
  Logs first = loss(0.5), second = loss(0.25);
  of.time.pass(4s);
  of.member->on_epoch_end(of.fit, 1, first);
  BOOST_TEST(said.all() == "member 3 begins on task 2, number 1 of this task\n");
  of.member->on_epoch_begin(of.fit, 2);
  of.time.pass(16s);
  of.member->on_batch_end(of.fit, 7, loss(0.375));
  of.member->on_batch_end(of.fit, 8, loss(0.125));
  of.time.pass(5s);
  of.member->on_epoch_end(of.fit, 2, second);
  of.member->on_train_end(of.fit);
  BOOST_TEST(said.all() ==
             "member 3 begins on task 2, number 1 of this task\n"
             "member 3 on task 2  epoch 2/4  step 7  loss 0.375\n"
             "member 3 on task 2  epoch 2/4  loss 0.25\n"
             "member 3 is trained on task 2  25.0 s  loss 0.25\n");
}

BOOST_AUTO_TEST_CASE(a_member_that_was_interrupted_is_not_trained) {
  LogLines said;
  Training of("");
  of.fit.interrupt();
  of.member->on_train_end(of.fit);
  BOOST_TEST(said.all() == "member 3 begins, number 1 of this task\n");
}

BOOST_AUTO_TEST_CASE(all_that_members_learn_is_named) {
  BOOST_TEST(describe(MemberWork{.member = 3}) == "member 3");
  BOOST_TEST(describe(MemberWork{.member = 3, .fold = 1}) == "member 3 without fold 1");
  LogLines said;
  const auto [x, y] = three_clouds(60, 1);
  FitOptions options = quiet(1, 20);
  actorflow::ensemble(small_model(3), {.members = 2}).fit({x, y}, options);
  BOOST_TEST(said.all() == "");
  options.verbosity = Verbosity::line_per_epoch;
  actorflow::ensemble(small_model(3), {.members = 2}).fit({x, y}, options);
  for (const char* line : {"member 0 begins, number ", "member 1 is trained  "})
    BOOST_TEST(said.all().find(line) != std::string::npos, said.all());
}

BOOST_AUTO_TEST_SUITE_END()
