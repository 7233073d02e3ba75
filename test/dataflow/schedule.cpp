#include "dataflow/collectives/schedule.h"

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <set>

#include "dataflow/values/error.h"
#include "test/dataflow/support/schedule_run.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(schedule)

using namespace actorflow;
using test::says, test::ScheduleRun;

namespace {

constexpr int most_ranks = 17;

void check(const SchedulePlan& plan) {
  BOOST_TEST_CONTEXT(to_string(plan.kind) << " " << to_string(plan.algorithm) << ", " << plan.ranks
                                          << " ranks, root " << plan.root) {
    BOOST_CHECK_NO_THROW(ScheduleRun(plan, 1e6, {}).run());
  }
}

std::size_t bytes_sent(const SchedulePlan& plan, int rank, std::size_t slice_bytes) {
  std::size_t sent = 0;
  for (const auto& step : make_schedule(plan, rank))
    if (step.action == ScheduleStep::Action::send) sent += step.pieces.size() * slice_bytes;
  return sent;
}

// All ways in which so many ranks follow each other on at most so many hosts.
std::vector<std::vector<int>> layouts(int ranks, int most_hosts) {
  std::vector<std::vector<int>> all{{ranks}};
  if (most_hosts == 1) return all;
  for (int first = 1; first < ranks; ++first)
    for (auto& rest : layouts(ranks - first, most_hosts - 1)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  return all;
}

// The host of a rank.
std::size_t host_of(const std::vector<int>& hosts, int rank) {
  std::size_t host = 0;
  while (rank >= hosts[host]) rank -= hosts[host++];
  return host;
}

// From whom a rank receives the unfinished sums, in this order.
std::vector<int> senders_of_sums(const SchedulePlan& plan, int rank) {
  std::vector<int> senders;
  for (const auto& step : make_schedule(plan, rank))
    if (step.action == ScheduleStep::Action::receive && is_unfinished(step.pieces[0], plan.ranks))
      senders.push_back(step.peer);
  return senders;
}

// What each host sends to others, in tensors.
std::vector<double> tensors_sent(const SchedulePlan& plan) {
  std::vector<double> sent(plan.hosts.size());
  for (int rank = 0; rank < plan.ranks; ++rank)
    for (const auto& step : make_schedule(plan, rank))
      if (step.action == ScheduleStep::Action::send &&
          host_of(plan.hosts, rank) != host_of(plan.hosts, step.peer))
        sent[host_of(plan.hosts, rank)] += static_cast<double>(step.pieces.size()) / slices_of(plan);
  return sent;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_all_reduce_gives_every_rank_the_sum_in_the_order_of_ranks) {
  for (int ranks = 1; ranks <= most_ranks; ++ranks)
    for (const auto algorithm :
         {Algorithm::direct, Algorithm::doubling, Algorithm::rabenseifner, Algorithm::ring})
      for (const int chunks : {1, 4}) check({.ranks = ranks, .algorithm = algorithm, .chunks = chunks});
}

BOOST_AUTO_TEST_CASE(hosts_of_any_numbers_of_ranks_give_every_rank_the_sum_in_the_order_of_ranks) {
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (const auto& hosts : layouts(ranks, 4))
      for (const int chunks : {1, 4, 7})
        check({.ranks = ranks, .algorithm = Algorithm::hierarchical, .chunks = chunks, .hosts = hosts});
}

BOOST_AUTO_TEST_CASE(a_host_sends_the_tensor_at_most_twice_however_many_ranks_it_has) {
  for (const auto& hosts : layouts(9, 4)) {
    const SchedulePlan plan{
        .ranks = 9, .algorithm = Algorithm::hierarchical, .chunks = 8, .hosts = hosts};
    for (const double sent : tensors_sent(plan))
      BOOST_TEST(sent <= (hosts.size() == 1 ? 0 : hosts.size() == 2 ? 1 : 2));
  }
}

// Otherwise one of them would send while another waits for its turn, on a port that both share.
BOOST_AUTO_TEST_CASE(an_owner_takes_sums_from_all_owners_of_a_larger_host_in_turn) {
  for (const auto& hosts : {std::vector{2, 1}, {4, 2}, {8, 1}, {8, 4}, {4, 2, 1}}) {
    const int ranks = std::accumulate(hosts.begin(), hosts.end(), 0);
    const SchedulePlan plan{
        .ranks = ranks, .algorithm = Algorithm::hierarchical, .chunks = 32, .hosts = hosts};
    for (int rank = hosts[0]; rank < ranks; ++rank) {
      const auto senders = senders_of_sums(plan, rank);
      const std::set<int> all(senders.begin(), senders.end());
      BOOST_TEST_CONTEXT("rank " << rank << " of " << ranks)
      for (std::size_t at = 0; at < senders.size(); at += all.size())
        BOOST_TEST(
            (std::set(&senders[at], &senders[at] + static_cast<std::ptrdiff_t>(all.size())) == all));
    }
  }
}

BOOST_AUTO_TEST_CASE(plans_that_no_ranks_can_have_are_refused) {
  const auto refused = [](int chunks, std::vector<int> hosts, const char* why) {
    const SchedulePlan plan{
        .ranks = 3, .algorithm = Algorithm::hierarchical, .chunks = chunks, .hosts = std::move(hosts)};
    BOOST_CHECK_EXCEPTION(check_plan(plan), Error, says(why));
  };
  BOOST_CHECK_NO_THROW(
      check_plan({.ranks = 3, .algorithm = Algorithm::hierarchical, .chunks = 2, .hosts = {1, 2}}));
  refused(0, {1, 2}, "expected 1 to 4096 chunks, got 0");
  refused(most_chunks + 1, {1, 2}, "expected 1 to 4096 chunks, got 4097");
  for (const auto& hosts :
       {std::vector<int>{}, {1, 1}, {3, 0}, {4, -1}, {2'147'483'647, 2'147'483'647, 5}})
    refused(1, hosts, "expected hosts of together 3 ranks");
}

BOOST_AUTO_TEST_CASE(every_gather_gives_every_rank_all) {
  for (int ranks = 1; ranks <= most_ranks; ++ranks)
    for (const auto algorithm : {Algorithm::direct, Algorithm::doubling, Algorithm::ring})
      check({.kind = CollectiveKind::all_gather, .ranks = ranks, .algorithm = algorithm});
}

BOOST_AUTO_TEST_CASE(every_other_operation_gives_every_rank_its_part) {
  for (int ranks = 1; ranks <= most_ranks; ++ranks)
    for (const auto kind :
         {CollectiveKind::reduce_scatter, CollectiveKind::all_to_all, CollectiveKind::barrier})
      check({.kind = kind, .ranks = ranks});
}

BOOST_AUTO_TEST_CASE(every_root_reaches_all) {
  for (int ranks = 1; ranks <= most_ranks; ++ranks)
    for (int root = 0; root < ranks; ++root)
      check({.kind = CollectiveKind::broadcast, .ranks = ranks, .root = root});
}

// 2 (P-1)/P of the tensor: no algorithm can send less.
BOOST_AUTO_TEST_CASE(rabenseifner_sends_as_little_as_possible) {
  for (const int ranks : {2, 3, 8})
    for (int rank = 0; rank < ranks; ++rank)
      BOOST_TEST(bytes_sent({.ranks = ranks, .algorithm = Algorithm::rabenseifner}, rank, 10) ==
                 static_cast<std::size_t>(20 * (ranks - 1)));
}

BOOST_AUTO_TEST_CASE(a_ring_talks_to_the_next_rank_only) {
  for (int rank = 0; rank < 5; ++rank)
    for (const auto& step : make_schedule({.ranks = 5, .algorithm = Algorithm::ring, .chunks = 3}, rank))
      if (step.action == ScheduleStep::Action::send) BOOST_TEST(step.peer == (rank + 1) % 5);
}

BOOST_AUTO_TEST_CASE(slices_differ_by_one_element_at_most) {
  for (const std::int64_t size : {0, 1, 5, 12, 1000})
    for (const int count : {1, 3, 7}) {
      BOOST_TEST(slice_begin(size, count, 0) == 0);
      BOOST_TEST(slice_begin(size, count, count) == size);
      for (int i = 0; i < count; ++i) {
        const auto length = slice_begin(size, count, i + 1) - slice_begin(size, count, i);
        BOOST_TEST((length == size / count || length == size / count + 1));
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
