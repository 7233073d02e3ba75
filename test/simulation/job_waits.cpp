// Parts of a map/reduce job that do not run, since what they read is nowhere.
#include "actors/actorflow.h"
#include "actors/jobs/engine/job_engine.h"
#include "actors/simulation/simulation_test.h"

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

StageSpec stage_of(const std::string& name, bool keeps) {
  StageSpec stage;
  stage.name = name;
  stage.parts = 2;
  stage.keeps = keeps;
  stage.body = [](Part&) {};
  return stage;
}

// Reads what its tasks have forgotten, though their programs say that they have it.
void read_what_is_forgotten(SimTask& task) {
  JobEngineOptions options;
  options.memory_bytes = std::size_t{256} << 20;
  options.slots = 2;
  options.patience = 20s;
  JobEngine engine(task.server().runtime(), options, task.server().context());
  if (engine.coordinates())
    engine.begin({});
  else
    engine.join();
  engine.run(stage_of("read_text", true), 1);
  StageSpec sum = stage_of("reduce_by_key", false);
  sum.inputs = [](std::size_t part) { return std::vector{SliceSet{1, true, part}}; };
  engine.run(std::move(sum), 2);
}

// With the last that its tasks have said.
std::string how_it_ends(SimCluster& sim) {
  try {
    sim.start(read_what_is_forgotten).finish();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "it has ended well";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(job_waits)

SIMULATION_TEST(a_part_whose_input_is_nowhere_ends_the_job_and_is_named, seeds(1, 20)) {
  SimOptions options = of_this_seed({});
  options.time_limit = 5min;
  SimCluster sim({{"local", 2}}, options);
  const std::string why = how_it_ends(sim);
  for (const char* expected :
       {" failed: reduce_by_key: part ", " of 2 at /job:local/task:", "without having run",
        "the records of stage run 1 are not kept here", "it is tried again"})
    BOOST_TEST(why.find(expected) != why.npos, why);
}

BOOST_AUTO_TEST_SUITE_END()
