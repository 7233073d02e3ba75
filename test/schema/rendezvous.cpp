// The meeting of ranks, over real sockets: who comes, who does not, and who should not.
#include "schema/environment/rendezvous.h"

#include <boost/test/unit_test.hpp>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "dataflow/values/error.h"
#include "schema/environment/reserved_port.h"
#include "test/schema/support/raw_socket.h"
#include "test/support/hang_limit.h"

BOOST_AUTO_TEST_SUITE(rendezvous)

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::uint64_t our_job = 4711;

LaunchedRank rank(int number, int size, std::uint16_t port) {
  return {.launcher = "test",
          .rank = number,
          .size = size,
          .host = "127.0.0.1",
          .ports = {port},
          .job = our_job};
}

struct Outcome {
  std::vector<std::string> addresses;
  Status status;
};

Outcome outcome_of(const LaunchedRank& self, const RendezvousOptions& options) {
  try {
    return {meet(self, static_cast<std::uint16_t>(1000 + self.rank), options), {}};
  } catch (const Error& error) {
    return {{}, error.status()};
  }
}

// A rank on a thread of its own.
std::future<Outcome> comes(const LaunchedRank& self, RendezvousOptions options = {}) {
  return std::async(std::launch::async,
                    [self, options = std::move(options)] { return outcome_of(self, options); });
}

const std::vector<std::string> three_addresses{"127.0.0.1:1000", "127.0.0.1:1001", "127.0.0.1:1002"};

void check_fails(const Outcome& outcome, Code code, const std::string& text) {
  BOOST_TEST((outcome.status.code == code), outcome.status.to_string());
  BOOST_TEST(outcome.status.message.find(text) != std::string::npos, outcome.status.to_string());
}

// Texts that ranks say while they wait.
class Notices {
 public:
  RendezvousOptions options(std::int64_t limit_ms) {
    return {.limit_ms = limit_ms, .on_wait = [this](const std::string& text) {
              const std::lock_guard lock(mutex_);
              all_ += text + "\n";
            }};
  }
  bool have(const std::string& text) {
    const std::lock_guard lock(mutex_);
    return all_.find(text) != std::string::npos;
  }

 private:
  std::mutex mutex_;
  std::string all_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(all_ranks_learn_all_addresses_whoever_comes_first) {
  for (const auto& order : {std::vector{0, 1, 2}, std::vector{2, 1, 0}, std::vector{1, 0, 2}}) {
    const ReservedPort port;
    std::vector<std::future<Outcome>> ranks;
    for (const int number : order) ranks.push_back(comes(rank(number, 3, port.number())));
    for (auto& each : ranks) BOOST_TEST(each.get().addresses == three_addresses);
  }
}

BOOST_AUTO_TEST_CASE(a_hundred_ranks_meet) {
  const ReservedPort port;
  std::vector<std::future<Outcome>> ranks;
  for (int number = 0; number < 100; ++number) ranks.push_back(comes(rank(number, 100, port.number())));
  for (auto& each : ranks) {
    const Outcome outcome = each.get();
    BOOST_TEST(outcome.addresses.size() == 100u, outcome.status.to_string());
  }
}

BOOST_AUTO_TEST_CASE(who_has_not_come_is_named_by_all_who_have) {
  const ReservedPort port;
  Notices notices;
  auto first = comes(rank(0, 4, port.number()), notices.options(2'500));
  auto third = comes(rank(2, 4, port.number()), notices.options(2'500));
  for (auto* each : {&first, &third})
    check_fails(each->get(), Code::deadline_exceeded, "ranks 1, 3 of 4 did not come");
  BOOST_TEST(notices.have("rank 0 of 4 (test) waits for ranks 1, 3 of 4"));
  BOOST_TEST(notices.have("rank 2 of 4 (test) waits for the other ranks"));
}

BOOST_AUTO_TEST_CASE(a_rank_without_rank_0_gives_up_and_says_where_it_looked) {
  const ReservedPort port;
  Notices notices;
  check_fails(outcome_of(rank(1, 2, port.number()), notices.options(100)), Code::deadline_exceeded,
              "rank 0 at 127.0.0.1:" + std::to_string(port.number()));
  BOOST_TEST(notices.have("rank 1 of 2 (test) waits for rank 0"));
}

BOOST_AUTO_TEST_CASE(ranks_that_disagree_about_the_job_all_fail_and_both_numbers_are_named) {
  const ReservedPort port;
  auto first = comes(rank(0, 3, port.number())), second = comes(rank(1, 4, port.number()));
  for (auto* each : {&first, &second})
    check_fails(each->get(), Code::invalid_argument,
                "rank 1 says that the job has 4 ranks, but rank 0 says 3");

  LaunchedRank other = rank(1, 3, port.number());
  other.parameter_servers = 1;
  auto again = comes(rank(0, 3, port.number()));
  check_fails(comes(other).get(), Code::invalid_argument, "1 parameter servers");
  check_fails(again.get(), Code::invalid_argument, "but rank 0 says 0");
}

BOOST_AUTO_TEST_CASE(a_second_process_of_a_rank_is_refused_and_the_others_meet) {
  const ReservedPort port;
  auto first = comes(rank(0, 3, port.number()));
  auto one = comes(rank(1, 3, port.number())), another = comes(rank(1, 3, port.number()));
  // The meeting cannot be over before rank 2 has come, so one of the two is refused.
  while (one.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready &&
         another.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
  }
  const bool one_is_refused = one.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  auto third = comes(rank(2, 3, port.number()));
  check_fails((one_is_refused ? one : another).get(), Code::already_exists, "has rank 1");
  BOOST_TEST((one_is_refused ? another : one).get().addresses == three_addresses);
  BOOST_TEST(first.get().addresses == three_addresses);
  BOOST_TEST(third.get().addresses == three_addresses);
}

BOOST_AUTO_TEST_CASE(strangers_and_ranks_of_other_jobs_change_nothing) {
  const ReservedPort port;
  Notices notices;
  auto first = comes(rank(0, 3, port.number()));
  auto second = comes(rank(1, 3, port.number()));
  LaunchedRank foreign = rank(2, 3, port.number());
  foreign.job = our_job + 1;
  check_fails(outcome_of(foreign, notices.options(100)), Code::deadline_exceeded, "another job");
  const std::string address = "127.0.0.1:" + std::to_string(port.number());
  const Socket silent(address);
  for (const Bytes& noise : {Bytes(100'000, '\xff'), Bytes(100'000, '\0'), Bytes{'G', 'E', 'T', ' '}}) {
    Socket stranger(address);
    stranger.write(noise);
  }
  auto third = comes(rank(2, 3, port.number()));
  for (auto* each : {&first, &second, &third}) BOOST_TEST(each->get().addresses == three_addresses);
}

BOOST_AUTO_TEST_CASE(a_port_that_is_taken_makes_the_ranks_meet_at_the_next) {
  const ReservedPort taken, port;
  auto squatter = comes([&] {
    LaunchedRank other = rank(0, 2, taken.number());
    other.job = our_job + 1;
    return other;
  }());
  while (true) {  // until it listens
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(taken.number());
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    const bool listens = ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    close(fd);
    if (listens) break;
  }
  std::vector<std::future<Outcome>> ranks;
  for (int number = 0; number < 3; ++number) {
    LaunchedRank self = rank(number, 3, taken.number());
    self.ports.push_back(port.number());
    ranks.push_back(comes(self));
  }
  for (auto& each : ranks) BOOST_TEST(each.get().addresses == three_addresses);
  check_fails(outcome_of(rank(0, 3, taken.number()), {}), Code::already_exists,
              "set MASTER_PORT to a free one");
  LaunchedRank end = rank(1, 2, taken.number());
  end.job = our_job + 1;
  BOOST_TEST(outcome_of(end, {}).status.ok());
  squatter.get();
}

BOOST_AUTO_TEST_SUITE_END()
