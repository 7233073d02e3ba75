// A worker of synchronous training that lacks memory: it makes the step again, or the job ends with the
// reason for all.
#include <new>

#include "actors/actorflow.h"
#include "actors/simulation/simulation_test.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(lacking_worker)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

const std::string chief = "/job:worker/task:0", lacking = "/job:worker/task:2";
constexpr std::int64_t steps = 20;

// Fits w to 3. Its first `times` tries of a step run out of memory.
class Fit final : public ReplicaProgram {
 public:
  explicit Fit(int& times) : times_(times) {}

  ReplicaNodes build(Graph& g, const Replication& replication) override {
    const Variable step = global_step(g);
    w_ = g.variable("w", g.constant(0.0F));
    const Output loss = square(w_ - g.constant(3.0F));
    return {.train = minimize(g, loss, {w_}, step, Momentum{0.05, 0.5}, replication),
            .loss = loss,
            .fetches = {},
            .targets = {}};
  }
  void begin(Session&, std::int64_t) override {}
  Feeds next() override {
    if (times_ == 0) return {};
    --times_;
    throw std::bad_alloc();
  }
  bool after_step(Session&, std::int64_t, std::span<const Tensor>) override { return true; }
  void finish(Session& session) override { w = session.run(w_).scalar<float>(); }

  float w = 0;  // what the chief has learned

 private:
  int& times_;
  Variable w_;
};

struct Job {
  int times = 0;

  float operator()(SimTask& task) {
    static const std::atomic<bool> never{false};
    ReplicaOptions options{.strategy = Synchronous{}};
    options.train_steps = steps;
    Server& server = task.server();
    if (server.name().job == "ps") return serve_parameters(server, options), 0.0F;
    int none = 0;
    Fit fit(server.name().to_string() == lacking ? times : none);
    run_replica(server, fit, options, never);
    return fit.w;
  }
};

// What the chief of two parameter servers and three workers learns. Nobody waits for a timeout, and
// nobody is started again.
float learn(int times) {
  SimCluster sim({{"ps", 2}, {"worker", 3}}, of_this_seed({.time_limit = 30s}));
  return sim.start(Job{times}).finish(chief);
}

}  // namespace

SIMULATION_TEST(a_step_that_lacked_memory_is_made_again, seeds(1, 10)) {
  static const float expected = learn(0);
  BOOST_TEST(learn(2) == expected);
}

SIMULATION_TEST(a_worker_that_goes_on_lacking_memory_ends_the_job_for_all_by_name, seeds(1, 10)) {
  BOOST_CHECK_EXCEPTION(learn(1000), Error, [](const Error& error) {
    return error.code() == Code::resource_exhausted && test::says(lacking)(error);
  });
}

BOOST_AUTO_TEST_SUITE_END()
