// What callbacks have seen, from one train() to the next, and where a train() goes on after a loss.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "actors/models/fit/callbacks.h"
#include "actors/monitored/training_end.h"
#include "test/estimator/support/flowers.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(train_callbacks)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Numbers = std::vector<std::int64_t>;

// Counts the steps of which it hears, which is its state.
CallbackRef counting(std::function<void(FitContext&, std::int64_t count)> heard) {
  const auto count = std::make_shared<std::int64_t>(0);
  return callback(
      {.on_train_begin = [count](FitContext&) { *count = 0; },
       .on_batch_end = [count, heard = std::move(heard)](FitContext& training, std::int64_t,
                                                         const Logs&) { heard(training, ++*count); },
       .name = "count",
       .state =
           [count] {
             return CallbackState{{"count", Tensor::scalar(*count)}};
           },
       .restore =
           [count](const CallbackState& state) { *count = state.at("count").scalar<std::int64_t>(); }});
}

CallbackRef stop_after(std::int64_t steps) {
  return counting([steps](FitContext& training, std::int64_t count) {
    if (count >= steps) training.stop();
  });
}

using Train = std::function<void(const Folder&, const EstimatorTrainOptions&)>;

// By all tasks of a cluster, of which the chief has the callbacks.
Train on_cluster(int servers, std::function<Distribution(Server&)> strategy) {
  return [=](const Folder& folder, const EstimatorTrainOptions& options) {
    std::vector<LocalCluster::Job> jobs{{"worker", 2}};
    if (servers > 0) jobs.push_back({"ps", servers});
    LocalCluster cluster(jobs);
    const auto train = [&](const std::string& job, int task) {
      EstimatorTrainOptions own = options;
      if (job != "worker" || task != 0) own.callbacks = {};
      line_of({.model_dir = folder.path(),
               .strategy = strategy(cluster.server(job, task)),
               .save_checkpoints_steps = 5})
          .train(points_of_a_line(), own);
    };
    std::vector<std::jthread> others;
    for (int task = 0; task < servers; ++task) others.emplace_back([&, task] { train("ps", task); });
    run_on_threads(cluster, 2, [&](int task) { train("worker", task); });
  };
}

const Train by_workers =
    on_cluster(0, [](Server& server) -> Distribution { return MultiWorkerMirrored{server}; });
const Train by_servers = on_cluster(1, [](Server& server) -> Distribution {
  return ParameterServer{server, {.strategy = Synchronous{}}};
});

Train in_one_process(const Distribution& strategy) {
  return [strategy](const Folder& folder, const EstimatorTrainOptions& options) {
    line_of({.model_dir = folder.path(), .strategy = strategy}).train(points_of_a_line(), options);
  };
}

std::int64_t step_in(const Folder& folder) {
  return latest_step(posix_storage(), folder.path()).value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(they_begin_anew_with_each_train_under_every_strategy) {
  const std::map<std::string, Train> all{{"one device", in_one_process(OneDevice{})},
                                         {"mirrored", in_one_process(Mirrored{2})},
                                         {"workers", by_workers},
                                         {"parameter servers", by_servers}};
  for (const auto& [name, train] : all) {
    const Folder folder;
    train(folder, {.max_steps = 10, .callbacks = {stop_after(4)}});
    BOOST_TEST(step_in(folder) == 4, name);
    train(folder, {.max_steps = 20, .callbacks = {stop_after(4)}});
    BOOST_TEST(step_in(folder) == 8, name);
    train(folder, {.max_steps = 30, .callbacks = {stop_after(100)}});
    BOOST_TEST(step_in(folder) == 30, name);
  }
}

// On a cluster it is complete then.
BOOST_AUTO_TEST_CASE(a_train_to_the_end_of_one_that_was_stopped_trains_on_in_one_process) {
  for (const Distribution& strategy : {Distribution(OneDevice{}), Distribution(Mirrored{2})}) {
    const Folder folder;
    const Train train = in_one_process(strategy);
    for (const std::int64_t step : {4, 8, 10}) {
      train(folder, {.max_steps = 10, .callbacks = {stop_after(4)}});
      BOOST_TEST(step_in(folder) == step);
    }
  }
}

// The checkpoint of the fifth step was saved before callbacks heard of it.
BOOST_AUTO_TEST_CASE(they_go_on_where_a_train_goes_on_after_a_loss) {
  for (const auto& [max_steps, first] : std::map<std::int64_t, std::int64_t>{{20, 5}, {30, 1}}) {
    const Folder folder;
    const auto fail = counting([](FitContext&, std::int64_t count) {
      if (count == 7) throw invalid_argument("lost");
    });
    BOOST_CHECK_EXCEPTION(by_workers(folder, {.max_steps = 20, .callbacks = {fail}}), Error,
                          says("lost"));
    BOOST_TEST(step_in(folder) == 5);
    Numbers counts;
    by_workers(
        folder,
        {.max_steps = max_steps,
         .callbacks = {counting([&](FitContext&, std::int64_t count) { counts.push_back(count); })}});
    BOOST_TEST(counts.front() == first);
    BOOST_TEST(counts.size() == static_cast<std::size_t>(max_steps - 5));
  }
}

// Its chief was lost between the last checkpoint and the mark of the end.
BOOST_AUTO_TEST_CASE(a_train_that_was_stopped_and_lost_makes_no_step_more) {
  for (const Train& train : {by_workers, by_servers}) {
    const Folder folder;
    train(folder, {.max_steps = 10, .callbacks = {stop_after(4)}});
    BOOST_TEST_REQUIRE(std::filesystem::remove(folder.file("training-complete")));
    Numbers counts;
    train(folder,
          {.max_steps = 10,
           .callbacks = {counting([&](FitContext&, std::int64_t count) { counts.push_back(count); })}});
    BOOST_TEST(counts.empty());
    BOOST_TEST(step_in(folder) == 4);
    BOOST_TEST(read_training_end(posix_storage(), folder.path()).value().steps == 10);
  }
}

BOOST_AUTO_TEST_SUITE_END()
