// Losses that are no numbers, at a replica whose losses the chief does not see itself.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <future>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "test/models/support/toy_data.h"

BOOST_AUTO_TEST_SUITE(not_finite)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const ReplicaOptions skip{.strategy = Synchronous{}, .not_finite = NotFinite::skip};

// 6 batches of 4 examples, of which a worker has the second and the fourth; this one is a NaN in the
// first batch.
void fit_as(Server& server, FitOptions options) {
  std::vector<float> labels(24, 1);
  labels[3] = std::numeric_limits<float>::quiet_NaN();
  Model model = sequential({constant_layer(0)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0}});
  options.batch_size = 4;
  options.shuffle = false;
  options.strategy = ParameterServer{server, skip};
  model.fit({Tensor::zeros(DType::float32, {24, 1}), Tensor::of<float>({24, 1}, labels)}, options);
}

struct Seen {
  std::vector<double> batches, epochs;  // their losses
};

Seen fit_with_servers(FitOptions options) {
  LocalCluster cluster({{"ps", 1}, {"chief", 1}, {"worker", 1}});
  std::vector<std::future<void>> others;
  for (const char* job : {"ps", "worker"})
    others.push_back(std::async(std::launch::async, [&cluster, job, own = options]() mutable {
      own.callbacks = {};
      fit_as(cluster.server(job, 0), std::move(own));
    }));
  Seen seen;
  options.callbacks.push_back(
      callback({.on_batch_end = [&](FitContext&, std::int64_t,
                                    const Logs& logs) { seen.batches.push_back(logs.at("loss")); },
                .on_epoch_end = [&](FitContext&, int,
                                    Logs& logs) { seen.epochs.push_back(logs.at("loss")); }}));
  fit_as(cluster.server("chief", 0), std::move(options));
  for (auto& other : others) other.get();
  return seen;
}

}  // namespace

// The chief's third step begins when the worker has made its first one.
BOOST_AUTO_TEST_CASE(the_loss_of_any_replica_of_parameter_servers_ends_training) {
  const Seen seen = fit_with_servers(quiet({.epochs = 2, .callbacks = {terminate_on_nan()}}));
  BOOST_TEST(seen.batches.size() <= 3U);
  BOOST_TEST_REQUIRE(seen.epochs.size() == 1U);  // as far as it came
  BOOST_TEST(std::isnan(seen.epochs[0]));
}

// Whether the chief hears of it with that batch or a little later.
BOOST_AUTO_TEST_CASE(a_loss_of_the_last_batch_counts_at_the_end_of_its_epoch) {
  const Seen seen = fit_with_servers(
      quiet({.epochs = 3, .steps_per_epoch = 1, .callbacks = {terminate_on_nan()}}));
  BOOST_TEST_REQUIRE(seen.epochs.size() == 1U);
  BOOST_TEST(std::isnan(seen.epochs[0]));
}

BOOST_AUTO_TEST_CASE(it_is_told_once) {
  const Seen seen = fit_with_servers(quiet({.epochs = 1}));
  BOOST_TEST(seen.batches.size() == 6U);
  BOOST_TEST(std::ranges::count_if(seen.batches, [](double loss) { return std::isnan(loss); }) == 1);
}

BOOST_AUTO_TEST_CASE(later_epochs_are_measured_as_ever) {
  const Seen seen = fit_with_servers(quiet({.epochs = 3, .steps_per_epoch = 1}));
  BOOST_TEST_REQUIRE(seen.epochs.size() == 3U);
  BOOST_TEST(std::isnan(seen.epochs[0]));
  BOOST_TEST(seen.epochs[1] == 1.0);
  BOOST_TEST(seen.epochs[2] == 1.0);
}

BOOST_AUTO_TEST_SUITE_END()
