// What a task does about slices that it has lost, or cannot get.
#include <boost/test/unit_test.hpp>

#include "test/jobs/support/lone_agent.h"

BOOST_AUTO_TEST_SUITE(lost_slices)

using namespace actorflow;

namespace {

StoredChunks no_chunks() { return {}; }

}  // namespace

// What it has asked for on behalf of the part comes, and nobody wants it.
BOOST_AUTO_TEST_CASE(a_part_that_is_refused_holds_nothing) {
  test::LoneAgent agent([](Part&) {});
  agent.run(0, {1, 9});
  const auto request = agent.inbox.asked.take();
  BOOST_REQUIRE(request);
  const auto refused = agent.not_run();
  BOOST_TEST((refused.status.code == Code::aborted));
  BOOST_TEST(refused.status.message.find("stage run 9 are not kept here") != std::string::npos,
             refused.status.message);
  agent.answer(request->request);
  agent.run(1, {9});
  agent.not_run();  // so the answer has been taken
  BOOST_TEST(!agent.records->has(0, 0));
  BOOST_TEST(agent.tools.chunks->memory_in_use() == 0u);
}

// They are where they were, so the part that made them need not run again.
BOOST_AUTO_TEST_CASE(slices_for_which_their_task_has_no_memory_now_are_not_lost) {
  test::LoneAgent agent([](Part&) {});
  agent.run(0, {1});
  const auto request = agent.inbox.asked.take();
  BOOST_REQUIRE(request);
  SlicesAre none;
  none.request = request->request;
  none.status = {Code::resource_exhausted, "out of memory"};
  agent.answer(none);
  const auto failed = agent.inbox.ran.take();
  BOOST_REQUIRE(failed);
  BOOST_TEST((failed->status.code == Code::resource_exhausted));
  BOOST_TEST(agent.inbox.not_run.size() == 0u);
}

BOOST_AUTO_TEST_CASE(an_answer_that_brings_nothing_is_not_asked_for_again) {
  test::LoneAgent agent([](Part&) {});
  agent.run(0, {1});
  const auto request = agent.inbox.asked.take();
  BOOST_REQUIRE(request);
  SlicesAre nothing;
  nothing.request = request->request;
  nothing.checksum = hash_bytes({});
  agent.answer(nothing);
  const auto failed = agent.inbox.ran.take();
  BOOST_REQUIRE(failed);
  BOOST_TEST((failed->status.code == Code::unavailable), failed->status.to_string());
  BOOST_TEST(agent.inbox.asked.size() == 0u);
}

BOOST_AUTO_TEST_CASE(slices_that_were_not_asked_for_cost_an_attempt) {
  test::LoneAgent agent([](Part&) {});
  agent.run(0, {1});
  const auto request = agent.inbox.asked.take();
  BOOST_REQUIRE(request);
  Tensor bytes = Tensor::zeros(DType::uint8, {5});
  SlicesAre others;
  others.request = request->request;
  others.pieces = {{7, 1, 5}};
  others.parts_done = 1;
  others.checksum = hash_bytes(detail::payload_bytes(bytes));
  agent.answer(others, std::move(bytes));
  const auto failed = agent.inbox.ran.take();
  BOOST_REQUIRE(failed);
  BOOST_TEST((failed->status.code == Code::unavailable), failed->status.to_string());
}

BOOST_AUTO_TEST_CASE(a_copy_is_lost_and_what_came_in_its_place_stays) {
  KeptRecords records(1, 1, 2);
  records.keep(0, no_chunks());
  const auto bad = records.slices(0, 0);
  BOOST_TEST(bad.is_own);
  records.keep(0, no_chunks());
  BOOST_TEST(!records.lose(0, bad.chunks));
  BOOST_TEST(records.has(0, 0));
  BOOST_TEST(records.lose(0, records.slices(0, 0).chunks));
  BOOST_TEST(!records.has(0, 0));
  records.keep_fetched(0, 0, no_chunks());
  records.keep_fetched(0, 1, no_chunks());
  BOOST_TEST(!records.slices(0, 1).is_own);
  BOOST_TEST(records.lose(0, records.slices(0, 1).chunks));
  BOOST_TEST((records.has(0, 0) && !records.has(0, 1)));
}

// Two attempts have read one bad copy: what is made in its place is not lost with it, and neither of
// them has failed.
BOOST_AUTO_TEST_CASE(a_bad_copy_is_blamed_once) {
  std::shared_ptr<const StoredChunks> bad;
  test::LoneAgent agent([&bad](Part&) {
    throw LostRecords(Code::data_loss, "it has changed", {1, 0, bad, true});
  });
  agent.records->keep(0, no_chunks());
  bad = agent.records->slices(0, 0).chunks;
  agent.run(0);
  const auto first = agent.not_run();
  BOOST_TEST((first.missing && first.missing->holder == JobMail::coordinator_task));
  agent.records->keep(0, no_chunks());
  agent.run(1);
  const auto second = agent.not_run();
  BOOST_TEST((second.missing && second.missing->holder == StageTracker::nowhere));
  BOOST_TEST(agent.records->has(0, 0));
  BOOST_TEST(agent.inbox.ran.size() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
