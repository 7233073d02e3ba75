// A job whose coordinating task ends early, without the memory to say so at once.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>

#include "actors/actorflow.h"
#include "actors/jobs/engine/job_engine.h"
#include "test/actors/support/failing_memory.h"
#include "test/support/ports.h"
#include "test/support/status_of.h"

using namespace actorflow;
using test::allocations_left;
using test::fail_allocation;
using test::status_of;

namespace {

struct UnendedJob {
  const ClusterSpec cluster{{"local", {test::free_address(), test::free_address()}}};
  Server first{options_of(0)}, second{options_of(1)};

  ServerOptions options_of(int index) const {
    ServerOptions options;
    options.cluster = cluster;
    options.job = "local";
    options.task = index;
    options.num_threads = 1;
    return options;
  }
};

std::unique_ptr<JobEngine> engine_of(Server& server) {
  JobEngineOptions options;
  options.memory_bytes = std::size_t{256} << 20;
  options.patience = std::chrono::seconds(5);
  return std::make_unique<JobEngine>(server.runtime(), options, server.context());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(unended_job, UnendedJob)

// The first, with which nothing has been asked yet.
BOOST_AUTO_TEST_CASE(the_others_hear_of_the_end_after_an_allocation_has_failed) {
  auto engine = engine_of(first);
  engine->begin({});
  const auto other = engine_of(second);
  other->join();
  fail_allocation(1);
  engine.reset();
  BOOST_TEST(allocations_left() == 0u);
  const Status status = status_of([&] { other->end(); });
  BOOST_TEST(status.message == "the program of the coordinating task has ended early");
}

BOOST_AUTO_TEST_SUITE_END()
