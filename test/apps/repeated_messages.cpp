// Training jobs between whose processes messages come twice, at once or late: each is dropped.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <deque>
#include <random>

#include "test/apps/support/counting_job.h"
#include "test/apps/support/frame_proxy.h"
#include "test/apps/support/trainers.h"

BOOST_AUTO_TEST_SUITE(repeated_messages)

using namespace actorflow::test;

namespace {

constexpr double chance = 0.1;
constexpr std::size_t most_late = 8;  // deliveries

// Repeats a tenth of the deliveries between all tasks of a job: at once, or after some others.
class Repeater {
 public:
  explicit Repeater(Trainers& job) {
    job.go_by([this](const std::string& address) {
      auto& proxy = proxies_[address];
      if (!proxy) proxy = std::make_unique<FrameProxy>(address, [this] { return make_way(); });
      return proxy->address();
    });
  }
  std::int64_t repeated() const { return repeated_; }

 private:
  FrameProxy::Way make_way() {
    return [this, random = std::minstd_rand(++ways_), recent = std::deque<std::string>()](
               const FrameProxy::Frame& frame, const FrameProxy::Send& send) mutable {
      send(frame.bytes);
      if (!frame.is_delivery) return;
      recent.push_front(frame.bytes);
      if (recent.size() > most_late) recent.pop_back();
      if (std::uniform_real_distribution<>()(random) >= chance) return;
      ++repeated_;
      send(recent[random() % recent.size()]);
    };
  }

  std::atomic<unsigned> ways_{0};
  std::atomic<std::int64_t> repeated_{0};
  std::map<std::string, std::unique_ptr<FrameProxy>> proxies_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(change_no_bit_of_synchronous_training) {
  const std::vector<std::string> flags{"--train_steps=500", "--data=digits", "--hidden=32"};
  auto alone = flags;
  alone.insert(alone.end(), {"--sync", "--ps=2", "--workers=3"});
  auto together = flags;
  together.emplace_back("--sync_replicas");
  Trainers job(2, 3, together);
  const Repeater repeater(job);
  job.start_all();
  job.expect_success();
  BOOST_TEST(job.weights_hash() == report_value(train_in_one_process(alone), "weights_hash"));
  BOOST_TEST(repeater.repeated() > 500);
}

BOOST_AUTO_TEST_CASE(count_no_asynchronous_update_twice) {
  CountingJob job(500);
  const Repeater repeater(job);
  job.start_all();
  job.expect_each_update_counted_once();
  BOOST_TEST(repeater.repeated() > 500);
}

BOOST_AUTO_TEST_SUITE_END()
