// Ranks that each have all variables: where the gradient of one alone is not finite, all go back to the
// newest checkpoint, or all fail and say why.
#include <array>

#include "actors/actorflow.h"
#include "actors/simulation/simulation_test.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(roll_back_ranks)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t steps = 60, bad_step = 25;
constexpr const char* bad_task = "/job:worker/task:1";

// Fits w to 3. The second rank's gradient is NaN at one step, the first time that it comes there.
class Fit final : public ReplicaProgram {
 public:
  Fit(const Server& server, int& visits, bool has_nan)
      : has_nan_(has_nan && server.name() == TaskName::parse(bad_task)), visits_(visits) {}

  ReplicaNodes build(Graph& g, const Replication& replication) override {
    const Variable step = global_step(g);
    w_ = g.variable("w", g.constant(0.0F));
    noise_ = g.placeholder(DType::float32, {}, "noise");
    const Output loss = square(w_ - g.constant(3.0F));
    return {.train = minimize(g, loss + noise_ * w_, {w_}, step, Momentum{0.05, 0.5}, replication),
            .loss = loss,
            .fetches = {},
            .targets = {}};
  }
  void begin(Session&, std::int64_t step) override { next_ = step; }
  Feeds next() override {
    const bool bad = next_++ == bad_step && has_nan_ && ++visits_ == 1;
    return {{noise_, Tensor::scalar(bad ? std::numeric_limits<float>::quiet_NaN() : 0.0F)}};
  }
  bool after_step(Session&, std::int64_t, std::span<const Tensor>) override { return true; }
  void finish(Session& session) override { w = session.run(w_).scalar<float>(); }

  float w = 0;  // what the chief has learned

 private:
  const bool has_nan_;
  int& visits_;
  Variable w_;
  Output noise_;
  std::int64_t next_ = 0;
};

struct Job {
  int local_steps = 1;
  int max_rollbacks = 1;
  bool has_nan = true;
  int visits = 0;  // of the bad step, by the second rank

  std::pair<float, int> operator()(SimTask& task) {
    static const std::atomic<bool> never{false};
    ReplicaOptions options{.strategy = AllReduce{.local_steps = local_steps}};
    options.max_rollbacks = max_rollbacks;
    options.train_steps = steps;
    options.checkpoint_folder = "checkpoints";
    options.save_checkpoint = {.steps = 10};
    Fit fit(task.server(), visits, has_nan);
    run_replica(task.server(), fit, options, never);
    return {fit.w, visits};
  }
};

const std::vector<SimCluster::Job> ranks{{"worker", 3}};

// Nobody waits for a timeout.
SimOptions quick() { return of_this_seed({.time_limit = 30s}); }

float undisturbed(int local_steps) {
  SimCluster sim(ranks, {.seed = 1});
  return sim.start(Job{.local_steps = local_steps, .has_nan = false}).finish("/job:worker/task:0").first;
}

}  // namespace

SIMULATION_TEST(a_nan_of_one_rank_costs_the_steps_since_the_newest_checkpoint, seeds(1, 20)) {
  static const float expected = undisturbed(1);
  SimCluster sim(ranks, quick());
  auto run = sim.start(Job{});
  BOOST_TEST(run.finish("/job:worker/task:0").first == expected);
  BOOST_TEST(run.finish(bad_task).second == 2);
}

// The others wait in an agreement for the one that is not coming. Rounds end where the first rank saves,
// so that none is ahead of a checkpoint.
SIMULATION_TEST(a_nan_in_a_round_of_local_steps_takes_all_back, seeds(1, 40)) {
  static constexpr std::array lengths{2, 5, 10};
  SimCluster sim(ranks, quick());
  auto run = sim.start(Job{.local_steps = lengths[of_this_seed({}).seed % lengths.size()]});
  BOOST_TEST(std::abs(run.finish("/job:worker/task:0").first - 3) < 0.1F);
  BOOST_TEST(run.finish(bad_task).second == 2);
}

SIMULATION_TEST(a_nan_that_is_an_error_ends_the_job_for_all_by_name, seeds(1, 20)) {
  for (const int local_steps : {1, 4}) {
    SimCluster sim(ranks, quick());
    auto run = sim.start(Job{.local_steps = local_steps, .max_rollbacks = 0});
    BOOST_CHECK_EXCEPTION(run.finish("/job:worker/task:0"), Error, [](const Error& error) {
      return error.code() == Code::not_finite && test::says("/job:worker/task:")(error);
    });
  }
}

BOOST_AUTO_TEST_SUITE_END()
