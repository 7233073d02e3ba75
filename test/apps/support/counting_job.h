// An asynchronous job of processes that does nothing but count its updates (test/support/counting.h).
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/apps/support/trainers.h"

namespace actorflow::test {

// 2 parameter servers and 3 workers, each of which makes `steps` updates.
class CountingJob : public Trainers {
 public:
  static constexpr int workers = 3;

  explicit CountingJob(std::int64_t steps, const std::vector<std::string>& flags = {})
      : Trainers(2, workers, with("--steps=" + std::to_string(steps), flags), {}, "counting_trainer"),
        updates_(workers * steps) {}

  // Waits until all tasks have ended well. All that tells how many updates there were must agree.
  void expect_each_update_counted_once() {
    expect_success();
    const auto witnesses = nlohmann::json::parse(report_value(report_text(), "witnesses"));
    BOOST_TEST(witnesses.size() == 6u);
    for (const auto& updates : witnesses) BOOST_TEST(updates == updates_, witnesses);
  }

 private:
  static std::vector<std::string> with(const std::string& flag, std::vector<std::string> flags) {
    flags.push_back(flag);
    return flags;
  }

  std::int64_t updates_;
};

}  // namespace actorflow::test
