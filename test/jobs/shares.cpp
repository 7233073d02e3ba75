// Jobs on several tasks as datasets: each task that trains has its share of the records.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/jobs/context/engine_options.h"
#include "actors/jobs/run_job.h"
#include "actors/jobs/tensors/batches.h"
#include "test/jobs/support/test_job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(shares)

using namespace actorflow;

namespace {

using Numbers = std::vector<std::int64_t>;

Numbers numbers(std::int64_t count) {
  Numbers all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Those that are no multiples of 3, the largest first: on several tasks they come from each of them.
auto falling(Job& job) {
  return job.from(numbers(1000), 7)
      .filter([](std::int64_t n) { return n % 3 != 0; })
      .sort_by([](std::int64_t n) { return -n; });
}

Numbers values_of(const Dataset& batches) {
  Numbers all;
  try {
    for (DatasetIterator it(batches);;) {
      const Tuple batch = it.next();
      const auto values = batch[0].values<std::int64_t>();
      all.insert(all.end(), values.begin(), values.end());
    }
  } catch (const Error& error) {
    if (error.code() != Code::out_of_range) throw;
  }
  return all;
}

// What task(name) does at each task of the cluster, at once.
template <class Task>
void at_all(LocalCluster& cluster, const Task& task) {
  std::vector<std::future<void>> ends;
  for (const auto& name : cluster.cluster().all_tasks())
    ends.push_back(std::async(std::launch::async, [&task, name] { task(name); }));
  for (auto& end : ends) end.get();
}

// What `make(job)` gives at each task when the job has ended.
template <class Make>
std::map<std::string, Dataset> datasets_of(LocalCluster& cluster, const Make& make,
                                           const JobOptions& options = test::small_parts()) {
  std::mutex mutex;
  std::map<std::string, Dataset> datasets;
  at_all(cluster, [&](const TaskName& name) {
    const auto function = [&](Job& job) {
      const Dataset dataset = make(job);
      const std::lock_guard lock(mutex);
      datasets.emplace(name.to_string(), dataset);
    };
    run_job(cluster.server(name.job, name.index), {{"records", function}}, "records", options);
  });
  return datasets;
}

Numbers every(const Numbers& all, std::size_t stride, std::size_t first) {
  Numbers some;
  for (std::size_t i = first; i < all.size(); i += stride) some.push_back(all[i]);
  return some;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_task_has_every_so_manieth_record_when_the_job_has_ended) {
  Job alone(test::small_parts());
  const Numbers all = falling(alone).collect();
  BOOST_TEST(all.size() == 666u);
  for (const bool on_disk : {false, true}) {
    JobOptions options = test::small_parts();
    options.records_on_disk = on_disk;
    LocalCluster cluster({{"worker", 4}}, 4);
    const auto datasets = datasets_of(
        cluster, [](Job& job) { return falling(job).batch(10).dataset(); }, options);
    for (std::size_t task = 0; task < 4; ++task) {
      const Dataset& own = datasets.at("/job:worker/task:" + std::to_string(task));
      BOOST_TEST(values_of(own) == every(all, 4, task), boost::test_tools::per_element());
      BOOST_TEST(values_of(own.repeat(2)).size() == 2 * every(all, 4, task).size());
      const Numbers end = every(all, 4, task);
      BOOST_TEST(values_of(own.skip(3)) == Numbers(end.begin() + 30, end.end()),
                 boost::test_tools::per_element());
    }
  }
}

// Which is emptied when the job has ended.
BOOST_AUTO_TEST_CASE(shares_outlive_the_work_folder_of_their_job) {
  const test::Folder folder;
  JobOptions options = test::small_parts();
  options.work_folder = folder.file("work");
  options.records_on_disk = true;
  LocalCluster cluster({{"worker", 2}}, 2);
  const auto datasets = datasets_of(
      cluster, [](Job& job) { return job.from(numbers(1000), 7).batch(10).dataset(); }, options);
  BOOST_TEST(std::filesystem::is_empty(options.work_folder));
  BOOST_TEST(values_of(datasets.at("/job:worker/task:1")) == every(numbers(1000), 2, 1),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(fewer_records_than_tasks_leave_some_without_any) {
  LocalCluster cluster({{"worker", 3}}, 3);
  const auto two =
      datasets_of(cluster, [](Job& job) { return job.from(numbers(2)).batch(5).dataset(); });
  BOOST_TEST((values_of(two.at("/job:worker/task:1")) == Numbers{1}));
  BOOST_TEST(values_of(two.at("/job:worker/task:2")).empty());
  const auto none =
      datasets_of(cluster, [](Job& job) { return job.from(Numbers()).batch(5).dataset(); });
  BOOST_TEST(values_of(none.at("/job:worker/task:0")).empty());
}

BOOST_AUTO_TEST_CASE(parameter_servers_have_no_share) {
  LocalCluster cluster({{"chief", 1}, {"ps", 1}, {"worker", 1}}, 3);
  const auto datasets =
      datasets_of(cluster, [](Job& job) { return job.from(numbers(5), 3).batch(5).dataset(); });
  BOOST_TEST((values_of(datasets.at("/job:chief/task:0")) == Numbers{0, 2, 4}));
  BOOST_TEST((values_of(datasets.at("/job:worker/task:0")) == Numbers{1, 3}));
  // Nobody waits for one that has no share: it may come when the job has ended.
  if (const auto ps = datasets.find("/job:ps/task:0"); ps != datasets.end())
    BOOST_TEST(values_of(ps->second).empty());
  const auto records =
      datasets_of(cluster, [](Job& job) { return dataset_of(job.from(numbers(5), 3)); });
  if (const auto ps = records.find("/job:ps/task:0"); ps != records.end())
    BOOST_TEST(values_of(ps->second.batch(2)).empty());
}

BOOST_AUTO_TEST_CASE(elements_of_other_tasks_are_passed_over_and_else_refused) {
  LocalCluster cluster({{"worker", 2}}, 2);
  const auto datasets = datasets_of(cluster, [](Job& job) { return dataset_of(job.from(numbers(9))); });
  const Dataset& second = datasets.at("/job:worker/task:1");
  BOOST_TEST((values_of(second.shard(2, 1).batch(3)) == Numbers{1, 3, 5, 7}));
  BOOST_TEST((values_of(second.skip(3).take(1).batch(1)) == Numbers{3}));
  BOOST_TEST((values_of(second.take(1).batch(1)) == Numbers{0}));  // what an example is like
  const Status status = test::status_of([&] { values_of(second.batch(3)); });
  BOOST_TEST((status.code == Code::failed_precondition), status.to_string());
  BOOST_TEST(status.message.find("record 2 of the job is on another task") != std::string::npos,
             status.message);
  BOOST_TEST(status.message.find("shard(2, 1)") != std::string::npos, status.message);
}

BOOST_AUTO_TEST_CASE(workers_that_fit_a_jobs_records_learn_as_one_device) {
  struct Point {
    std::array<float, 2> x;
    float y;
  };
  const auto points = [](Job& job) {
    return dataset_of(job.from(numbers(11), 4).map([](std::int64_t n) {
      const auto f = static_cast<float>(n) / 11;
      return Point{{f, 1 - f * f}, 2 * f};
    }));
  };
  const auto fit = [](const Dataset& examples, Distribution strategy) {
    Model model = sequential({dense(4, tanh), dense(1)});
    model.compile({.loss = mean_squared_error(), .optimizer = Momentum{0.1, 0}});
    const History history = model.fit(
        examples, {.epochs = 3, .batch_size = 4, .verbosity = Verbosity::silent, .strategy = strategy});
    return history.epochs.empty() ? std::vector<double>() : history.of("loss");
  };
  Job alone(test::small_parts());
  const std::vector<double> expected = fit(points(alone), OneDevice{});
  LocalCluster cluster({{"worker", 2}}, 2);
  const auto datasets = datasets_of(cluster, points);
  std::vector<double> losses;
  at_all(cluster, [&](const TaskName& name) {
    const auto own =
        fit(datasets.at(name.to_string()), MultiWorkerMirrored{cluster.server(name.job, name.index)});
    if (name.index == 0) losses = own;
  });
  BOOST_TEST(losses.size() == 3u);
  for (std::size_t epoch = 0; epoch < losses.size(); ++epoch)
    BOOST_TEST(std::abs(losses[epoch] - expected.at(epoch)) < 1e-5);
}

// A task that never comes.
BOOST_AUTO_TEST_CASE(a_share_whose_task_does_not_come_ends_the_job_with_its_name) {
  LocalCluster cluster({{"worker", 2}}, 2);
  JobOptions options = test::small_parts();
  JobEngineOptions of_engine = engine_options(options);
  of_engine.patience = std::chrono::milliseconds(1500);
  auto engine = std::make_unique<JobEngine>(cluster.server("worker", 0).runtime(), of_engine,
                                            cluster.server("worker", 0).context());
  engine->begin({});
  Job job(options, std::move(engine));
  const Status status = test::status_of([&] { job.from(numbers(9)).batch(3).dataset(); });
  BOOST_TEST((status.code == Code::unavailable), status.to_string());
  BOOST_TEST(
      status.message.find("for /job:worker/task:1, for which part 1 of 2 is") != std::string::npos,
      status.message);
}

// It is there, but computes something else until the first task has given up.
BOOST_AUTO_TEST_CASE(a_share_whose_program_does_not_come_to_it_ends_the_job_and_says_where_that_is) {
  LocalCluster cluster({{"worker", 2}}, 3);
  std::promise<void> is_between, first_has_ended;
  const auto late = [&](Job& job) {
    job.from(numbers(9)).count();
    if (job.coordinates()) {
      is_between.get_future().wait();
    } else {
      is_between.set_value();
      first_has_ended.get_future().wait();
    }
    job.from(numbers(9)).batch(3).dataset();
  };
  JobOptions options = test::small_parts();
  options.program_timeout_ms = 1000;
  const auto status_at = [&](int task) {
    return test::status_of([&] {
      run_job(cluster.server("worker", task), {{"late", late}}, "late", options);
    });
  };
  auto other = std::async(std::launch::async, [&] { return status_at(1); });
  const Status status = status_at(0);
  first_has_ended.set_value();
  BOOST_TEST((status.code == Code::unavailable), status.to_string());
  for (const char* expected :
       {" s for /job:worker/task:1, for which part 1 of 2 is, and which is there: but its program "
        "has come to stage run 1 of the job 'late', not to run ",
        ": see what it does before this stage, or give it more time with --program_timeout_ms"})
    BOOST_TEST(status.message.find(expected) != std::string::npos, status.message);
  BOOST_TEST(other.get().message == status.message);
}

BOOST_AUTO_TEST_SUITE_END()
