// Messages of a rank that say they are another's.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "actors/collectives/engine/rank_group.h"
#include "test/actors/support/ranks.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(claimed_ranks)

using namespace actorflow;
using namespace rank_messages;

namespace {

constexpr std::uint64_t life = 7;

// The group of one of three ranks, which takes what tests give it.
struct Taker {
  explicit Taker(int rank)
      : task(ranks.server(rank).context()), group(RankMail(task, members(), news), "g", {}) {
    group.open(life, {1, 1, 1}, {});
  }
  std::vector<TaskId> members() const {
    std::vector<TaskId> all;
    for (int rank = 0; rank < 3; ++rank) all.push_back(task->id_of({"worker", rank}));
    return all;
  }
  // Why the message of a rank is refused; nothing if it is not.
  template <class M>
  std::string refusal(const M& message, std::size_t sender = 1) {
    return test::error_of([&] {
      group.take({members()[sender], 1}, {.to = collectives_name,
                                          .from = collectives_name,
                                          .type = message_type<M>(),
                                          .request = life,
                                          .content = to_payload(message),
                                          .payload = {},
                                          .status = {}});
    });
  }

  test::Ranks ranks{3};
  const TaskRef task;
  UnheardNews news;
  RankGroup group;
};

const std::string one = "rank 1 (/job:worker/task:1) has sent a message as ";
const std::string as_two = one + "rank 2 (/job:worker/task:2), expected its own rank";
const std::string as_leader = one + "rank 0 (/job:worker/task:0), expected its own rank";
const UseOf use{"x", 2};

}  // namespace

BOOST_AUTO_TEST_CASE(a_message_in_the_name_of_another_rank_is_refused) {
  Taker leader(0);
  BOOST_TEST(leader.refusal(Propose{use, 2, {}}) == as_two);
  BOOST_TEST(leader.refusal(Part{use, 1, 2, 0, {}}) == as_two);
  BOOST_TEST(leader.refusal(Page{use, 1, 2}) == as_two);
  BOOST_TEST(leader.refusal(Joined{2, 1}) == as_two);
  BOOST_TEST(leader.refusal(Inquire{use, 2, "all_reduce"}) == as_two);
  BOOST_TEST(leader.refusal(Standing{use, 2, false, ""}) == as_two);
  BOOST_TEST(leader.refusal(AskWaits{2, 1}) == as_two);
  BOOST_TEST(leader.refusal(Account{2, 1, {}}) == as_two);
  BOOST_TEST(leader.refusal(Left{2, 1, {}}) == as_two);
  BOOST_TEST(leader.refusal(Left{77, 1, {}}) ==
             one + "rank 77, which there is not, expected its own rank");
  BOOST_TEST(leader.refusal(Left{-1, 1, {}}) ==
             one + "rank -1, which there is not, expected its own rank");
}

BOOST_AUTO_TEST_CASE(what_only_the_leader_may_say_is_refused_of_others) {
  Taker rank(2);
  BOOST_TEST(rank.refusal(Revise{use, 1}) == as_leader);
  BOOST_TEST(rank.refusal(Agreed{use, 1, {}, Algorithm::direct, 1}) == as_leader);
  BOOST_TEST(rank.refusal(AllJoined{1, 1}) == as_leader);
  BOOST_TEST(rank.refusal(Survey{1}) == as_leader);
  BOOST_TEST(rank.refusal(Waits{1, {}}) == as_leader);
}

BOOST_AUTO_TEST_CASE(an_answer_that_tells_of_ranks_that_there_are_not_is_refused) {
  Taker rank(2);
  const GroupWaits none{.operations = {}, .ranks = {"a", "b", "c"}, .last = {"", "", ""}};
  BOOST_TEST(rank.refusal(Waits{1, none}, 0) == "");
  const auto is_refused = [&](const GroupWaits& waits) {
    return rank.refusal(Waits{1, waits}, 0) ==
           "rank 0 (/job:worker/task:0) has told who waits in a group of other ranks than 'g'";
  };
  GroupWaits few = none, behind = none, before = none;
  few.last.pop_back();
  behind.operations = {{.name = "x", .call = "barrier", .seconds = 1, .waiting = {0}, .missing = {3}}};
  before.operations = {{.name = "x", .call = "barrier", .seconds = 1, .waiting = {-1}, .missing = {}}};
  BOOST_TEST(is_refused(few));
  BOOST_TEST(is_refused(behind));
  BOOST_TEST(is_refused(before));
}

BOOST_AUTO_TEST_CASE(its_own_messages_are_taken) {
  Taker leader(0);
  BOOST_TEST(leader.refusal(Propose{use, 1, {}}) == "");
  BOOST_TEST(leader.refusal(Part{use, 1, 1, 0, {}}) == "");
  BOOST_TEST(leader.refusal(Page{use, 1, 1}) == "");
  BOOST_TEST(leader.refusal(Inquire{use, 1, "all_reduce"}) == "");
  BOOST_TEST(leader.refusal(Standing{use, 1, false, ""}) == "");
  BOOST_TEST(leader.refusal(Failed{use, {Code::aborted, "a reason"}}) == "");
  BOOST_TEST(leader.refusal(Joined{1, 1}) == "");
  BOOST_TEST(leader.refusal(Left{1, 1, {}}) == "");
}

BOOST_AUTO_TEST_SUITE_END()
