// Gradients that are clipped by fit(): under a strategy what one device clips.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <thread>

#include "actors/models/model.h"
#include "test/models/support/toy_data.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(clipped_gradients)

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::int64_t examples = 10;

using Weights = std::map<std::string, Tensor>;

struct Clip {
  double value = 0, norm = 0, global_norm = 0;
};

// Each of them changes the gradients of every step.
const std::vector<Clip> clips{{.value = 0.01}, {.norm = 0.05}, {.global_norm = 0.05}};

struct Fitted {
  Weights weights;
  std::vector<double> losses;
};

// What the chief has learned; nothing at other tasks. An embedding, whose gradient is some rows, and
// matrices that slices of 3 replicas cut.
Fitted fit(const Clip& clip, const Distribution& strategy) {
  Model model = sequential({embedding(7, 3), flatten(), dense(5, tanh), dense(1)});
  model.compile({.loss = mean_squared_error(),
                 .optimizer = Adam{0.05, 0.9, 0.999, 1e-3},
                 .clip_value = clip.value,
                 .clip_norm = clip.norm,
                 .clip_global_norm = clip.global_norm});
  std::vector<std::int64_t> words;
  for (std::int64_t i = 0; i < 2 * examples; ++i) words.push_back(i * i % 7);
  const Tensor x = Tensor::of<std::int64_t>({examples, 2}, words);
  const Tensor y = points_of_a_line(examples).second;
  // The last batch has 4 examples.
  const History history = model.fit({x, y}, quiet({.epochs = 4, .batch_size = 6, .strategy = strategy}));
  if (!is_chief(strategy)) return {};
  return {model.weights(), history.of("loss")};
}

double distance(const Weights& a, const Weights& b) {
  double most = a.size() == b.size() ? 0 : INFINITY;
  for (const auto& [name, tensor] : a) {
    const auto x = tensor.values<float>(), y = b.at(name).values<float>();
    for (std::size_t i = 0; i < x.size(); ++i)
      most = std::max(most, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  }
  return most;
}

void expect_close(const Fitted& ours, const Fitted& alone, const std::string& what) {
  BOOST_TEST(distance(ours.weights, alone.weights) < 1e-5, what);
  BOOST_TEST_REQUIRE(ours.losses.size() == alone.losses.size());
  for (std::size_t epoch = 0; epoch < alone.losses.size(); ++epoch)
    BOOST_TEST(std::abs(ours.losses[epoch] - alone.losses[epoch]) < 1e-5, what);
}

Fitted by_workers(int count, const Clip& clip, const AllReduce& strategy) {
  LocalCluster cluster({{"worker", count}});
  Fitted chiefs;
  run_on_threads(cluster, count, [&](int task) {
    Fitted fitted =
        fit(clip, MultiWorkerMirrored{cluster.server("worker", task), {.strategy = strategy}});
    if (task == 0) chiefs = std::move(fitted);
  });
  return chiefs;
}

// The step that one weight makes of gradients 3 and -1, which are those of two replicas: their mean
// is 1.
float step_of(double clip_value, const Distribution& strategy) {
  Model model = sequential({constant_layer(0)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{1}, .clip_value = clip_value});
  model.fit({Tensor::of<float>({2, 1}, {0, 0}), Tensor::of<float>({2, 1}, {-1.5F, 0.5F})},
            quiet({.epochs = 1, .batch_size = 2, .strategy = strategy}));
  return is_chief(strategy) ? -model.weights().begin()->second.values<float>()[0] : NAN;
}

}  // namespace

BOOST_AUTO_TEST_CASE(clipping_changes_what_is_learned) {
  const Weights free = fit({}, OneDevice{}).weights;
  for (const Clip& clip : clips) BOOST_TEST(distance(fit(clip, OneDevice{}).weights, free) > 0.01);
}

BOOST_AUTO_TEST_CASE(replicas_clip_what_one_device_clips) {
  for (const Clip& clip : clips) {
    const Fitted alone = fit(clip, OneDevice{});
    for (const int replicas : {1, 2, 3}) {
      const std::string what = std::to_string(replicas) + " replicas";
      const Fitted mirrored = fit(clip, Mirrored{replicas});
      expect_close(mirrored, alone, what);
      const Weights workers = by_workers(replicas, clip, {}).weights;
      BOOST_TEST(same(workers, mirrored.weights), what << " as workers");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_sharded_optimizer_clips_the_same_bits) {
  for (const Clip& clip : clips) {
    const Weights mirrored = fit(clip, Mirrored{3}).weights;
    for (const std::int64_t bytes : {8, 1 << 20}) {
      const AllReduce sharded{
          .first_bucket_bytes = bytes, .bucket_bytes = 2 * bytes, .sharded_optimizer = true};
      BOOST_TEST(same(by_workers(3, clip, sharded).weights, mirrored), bytes << " bytes");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_mean_is_clipped_and_not_each_replicas_gradient) {
  BOOST_TEST(step_of(0, OneDevice{}) == 1);
  BOOST_TEST(step_of(0.5, OneDevice{}) == 0.5F);
  BOOST_TEST(step_of(0.5, Mirrored{2}) == 0.5F);
}

// As replicate.h says of them: half of 0.5 - 0.5.
BOOST_AUTO_TEST_CASE(with_parameter_servers_each_replica_clips_its_own) {
  LocalCluster cluster({{"ps", 1}, {"worker", 2}});
  std::vector<std::jthread> others;
  for (const auto& [job, task] : {std::pair{"ps", 0}, {"worker", 1}})
    others.emplace_back([&cluster, job = job, task = task] {
      step_of(0.5, ParameterServer{cluster.server(job, task)});
    });
  BOOST_TEST(step_of(0.5, ParameterServer{cluster.server("worker", 0)}) == 0);
}

BOOST_AUTO_TEST_CASE(clipping_in_two_ways_or_by_less_than_0_is_refused) {
  BOOST_CHECK_EXCEPTION(fit({.value = 1, .norm = 1}, OneDevice{}), Error,
                        says("both clip_value and clip_norm are given"));
  BOOST_CHECK_EXCEPTION(fit({.global_norm = -1}, OneDevice{}), Error,
                        says("clip_global_norm must be 0 or more, got -1"));
}

BOOST_AUTO_TEST_SUITE_END()
