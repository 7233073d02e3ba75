// The watch of a folder of checkpoints, in virtual time.
#include "actors/monitored/checkpoint_watch.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <utility>

#include "actors/checkpoint/checkpoint.h"
#include "actors/monitored/training_end.h"
#include "test/actors/support/memory_storage.h"
#include "test/support/only_clock.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(checkpoint_watch)

using namespace actorflow;
using namespace std::chrono_literals;
using test::says;

namespace {

using Steps = std::vector<std::int64_t>;

const std::string folder = "model";

// Time passes only in waits; what is to happen meanwhile happens at its time.
class VirtualTime final : public test::OnlyClock {
 public:
  void at(std::chrono::milliseconds time, std::function<void()> what) {
    events_.emplace(time_point{} + time, std::move(what));
  }
  std::chrono::nanoseconds passed() const { return now_ - time_point{}; }

  bool wait_until(time_point end, const std::function<void(Waker&)>&,
                  const std::function<void(Waker&)>&) override {
    if (end > time_point{} + 1h) throw std::logic_error("nothing happens any more");
    while (!events_.empty() && events_.begin()->first <= end) {
      now_ = events_.begin()->first;
      const auto what = events_.extract(events_.begin());
      what.mapped()();
    }
    now_ = end;
    return false;
  }

 private:
  std::multimap<time_point, std::function<void()>> events_;
};

// What is logged, to standard output, while it lives.
class Log {
 public:
  Log() : before_(dup(STDOUT_FILENO)), file_(std::tmpfile()) {
    BOOST_REQUIRE(before_ >= 0 && file_);
    dup2(fileno(file_), STDOUT_FILENO);
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log() {
    std::fflush(stdout);
    dup2(before_, STDOUT_FILENO);
    close(before_);
    std::fclose(file_);
  }
  bool has(const std::string& text) const {
    std::fflush(stdout);
    std::string all(1 << 16, '\0');
    const ssize_t bytes = pread(fileno(file_), all.data(), all.size(), 0);
    return bytes > 0 && all.find(text) < static_cast<std::size_t>(bytes);
  }

 private:
  int before_;
  std::FILE* file_;
};

struct Watched {
  VirtualTime time;
  MemoryStorage disk;
  Steps handled;
  bool stop = false;

  void save(std::int64_t step) {
    save_checkpoint(disk, folder,
                    {.global_step = step, .tensors = {{"w", Tensor::of<float>({3}, {1, 2, 3})}}});
  }
  void save_at(std::chrono::milliseconds when, std::int64_t step) {
    time.at(when, [this, step] { save(step); });
  }
  void mark_at(std::chrono::milliseconds when, std::int64_t step) {
    time.at(when, [this, step] { mark_complete(disk, folder, step); });
  }
  // Cuts the tensors of a step.
  void damage(std::int64_t step) {
    for (auto& [path, bytes] : disk.files)
      if (path.starts_with(folder + "/step-" + std::to_string(step) + ".") &&
          path.ends_with(".safetensors"))
        bytes.resize(bytes.size() / 2);
  }
  // The newest one that is whole.
  std::optional<std::int64_t> load() {
    std::optional<Error> damage;
    for (const auto& path : list_checkpoints(disk, folder)) try {
        return load_checkpoint(disk, path).global_step;
      } catch (const Error& error) {
        damage = error;
      }
    if (damage) throw *damage;
    return std::nullopt;
  }
  CheckpointWatch watch(std::int64_t last_step = -1) {
    return {disk,
            folder,
            {.load = [this] { return load(); },
             .handle = [this](std::int64_t step) { handled.push_back(step); }},
            last_step};
  }
  bool run(const WatchEnd& end, std::int64_t last_step = -1) {
    return watch(last_step).run(time, end, [this] { return stop; });
  }
};

void expect_steps(const Steps& handled, const Steps& expected) {
  BOOST_TEST(handled == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_checkpoint_is_handed_on_once_until_the_last_step) {
  Watched watched;
  for (const int step : {5, 10, 15, 20}) watched.save_at(step * 100ms, step);
  BOOST_TEST(watched.run({.step = 20}));
  expect_steps(watched.handled, {5, 10, 15, 20});
  BOOST_TEST((watched.time.passed() < 2100ms));
}

BOOST_AUTO_TEST_CASE(a_folder_that_comes_later_is_waited_for) {
  Watched watched;
  const Log log;
  bool said = false;
  watched.time.at(1900ms, [&] { BOOST_TEST(!log.has("waits")); });
  watched.time.at(2000ms, [&] {
    said = log.has("the evaluator waits for a checkpoint after step -1 in model, since 2 s");
  });
  watched.save_at(9000ms, 20);
  BOOST_TEST(watched.run({.step = 20}));
  BOOST_TEST(said);
  expect_steps(watched.handled, {20});
}

BOOST_AUTO_TEST_CASE(what_it_waits_for_is_said_anew_after_each_checkpoint) {
  Watched watched;
  const Log log;
  watched.save_at(1000ms, 5);
  watched.time.at(2900ms, [&] { BOOST_TEST(!log.has("waits")); });
  watched.time.at(3050ms, [&] { BOOST_TEST(log.has("after step 5 in model, since 2 s")); });
  watched.save_at(4000ms, 6);
  BOOST_TEST(watched.run({.step = 6}));
}

BOOST_AUTO_TEST_CASE(those_of_an_earlier_process_are_passed_over) {
  Watched watched;
  watched.save(5);
  watched.save_at(100ms, 7);
  BOOST_TEST(watched.run({.step = 7}, 5));
  expect_steps(watched.handled, {7});
}

BOOST_AUTO_TEST_CASE(the_newest_of_several_is_handed_on) {
  Watched watched;
  watched.save(5);
  watched.save(6);
  CheckpointWatch watch = watched.watch();
  BOOST_TEST(watch.look());
  BOOST_TEST(!watch.look());
  BOOST_TEST(watch.last_step() == 6);
  expect_steps(watched.handled, {6});
}

// Training that ends early, by a callback, marks the step that it was to reach.
BOOST_AUTO_TEST_CASE(the_mark_ends_it_after_the_last_checkpoint) {
  for (const bool only_mark : {false, true}) {
    Watched watched;
    watched.save_at(100ms, 15);
    watched.mark_at(5000ms, 20);
    BOOST_TEST(watched.run({.step = 20, .only_mark = only_mark}));
    expect_steps(watched.handled, {15});
    BOOST_TEST((watched.time.passed() >= 5000ms));
  }
}

BOOST_AUTO_TEST_CASE(a_mark_of_fewer_steps_is_of_an_earlier_training) {
  Watched watched;
  watched.save(10);
  mark_complete(watched.disk, folder, 10);
  watched.save_at(5000ms, 20);
  BOOST_TEST(watched.run({.step = 20}));
  expect_steps(watched.handled, {10, 20});
}

BOOST_AUTO_TEST_CASE(where_only_the_mark_counts_the_last_step_does_not) {
  Watched watched;
  watched.save(20);
  watched.mark_at(3000ms, 20);
  BOOST_TEST(watched.run({.step = 20, .only_mark = true}));
  BOOST_TEST((watched.time.passed() >= 3000ms));
}

BOOST_AUTO_TEST_CASE(it_can_be_stopped) {
  Watched watched;
  watched.save(5);
  watched.time.at(1000ms, [&] { watched.stop = true; });
  BOOST_TEST(!watched.run({.step = 20}));
  expect_steps(watched.handled, {5});
  BOOST_TEST((watched.time.passed() < 1100ms));
}

BOOST_AUTO_TEST_CASE(a_damaged_newest_one_is_passed_over_for_a_newer_one) {
  Watched watched;
  watched.save(5);
  watched.save(10);
  watched.damage(10);
  watched.save_at(500ms, 15);
  BOOST_TEST(watched.run({.step = 15}));
  expect_steps(watched.handled, {5, 15});
}

BOOST_AUTO_TEST_CASE(a_newest_one_that_stays_damaged_is_an_error) {
  Watched watched;
  watched.save(5);
  watched.save(10);
  watched.damage(10);
  BOOST_CHECK_EXCEPTION(watched.run({.step = 10}), Error,
                        says("the checkpoint of step 10 in model cannot be read"));
  expect_steps(watched.handled, {5});
}

// The trainer may remove a checkpoint while it is read.
BOOST_AUTO_TEST_CASE(one_that_is_gone_when_it_is_loaded_is_passed_over) {
  Watched watched;
  watched.save(5);
  bool gone = true;
  CheckpointWatch watch(watched.disk, folder,
                        {.load =
                             [&] {
                               if (std::exchange(gone, false)) throw Error(Code::not_found, "gone");
                               return watched.load();
                             },
                         .handle = [&](std::int64_t step) { watched.handled.push_back(step); }});
  BOOST_TEST(!watch.look());
  BOOST_TEST(watch.look());
  expect_steps(watched.handled, {5});
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_read_for_a_moment_is_looked_at_again) {
  Watched watched;
  watched.save(5);
  watched.time.at(1000ms, [&] { watched.disk.failing_lists = 19; });
  watched.save_at(3000ms, 10);
  BOOST_TEST(watched.run({.step = 10}));
  expect_steps(watched.handled, {5, 10});
  watched.disk.failing_lists = 20;
  BOOST_CHECK_EXCEPTION(watched.run({.step = 10}), Error, says("model: input/output error"));
}

BOOST_AUTO_TEST_CASE(what_the_handler_throws_ends_it) {
  Watched watched;
  watched.save(5);
  CheckpointWatch watch(
      watched.disk, folder,
      {.load = [&] { return watched.load(); },
       .handle = [](std::int64_t) { throw Error(Code::data_loss, "of the test data"); }});
  BOOST_CHECK_EXCEPTION(watch.look(), Error, says("of the test data"));
}

BOOST_AUTO_TEST_SUITE_END()
