// Parts of a map/reduce job that do not run, since what they read is nowhere.
#include <atomic>

#include "actors/actorflow.h"
#include "actors/jobs/engine/job_engine.h"
#include "actors/jobs/engine/job_over.h"
#include "actors/simulation/simulation_test.h"

BOOST_AUTO_TEST_SUITE(job_waits)

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

JobEngineOptions options_of_test() {
  JobEngineOptions options;
  options.memory_bytes = std::size_t{256} << 20;
  options.slots = 2;
  options.job = "shares";
  options.patience = 20s;
  options.program_patience = 1min;
  return options;
}

void begin_or_join(JobEngine& engine) {
  if (engine.coordinates())
    engine.begin({});
  else
    engine.join();
}

// Reads what its tasks have forgotten, though their programs say that they have it.
void read_what_is_forgotten(SimTask& task) {
  JobEngine engine(task.server().runtime(), options_of_test(), task.server().context());
  begin_or_join(engine);
  engine.run(stage_of("read_text", true), 1);
  StageSpec sum = stage_of("reduce_by_key", false);
  sum.inputs = [](std::size_t part) { return std::vector{SliceSet{1, true, part}}; };
  engine.run(std::move(sum), 2);
}

std::atomic<bool> begun_anew{false};

// Three tasks of which the first reaches the other two, which spoke with each other once, and do not
// reach each other when what they have made is read.
std::atomic<int> made{0};

StageSpec sum_of(std::vector<SliceSet> inputs, const std::vector<int>& owners) {
  StageSpec sum = stage_of("reduce_by_key", false);
  sum.parts = 1;
  sum.owners = owners;
  sum.inputs = [inputs](std::size_t) { return inputs; };
  return sum;
}

void read_what_two_have_made(SimTask& task, const std::vector<int>& owners) {
  JobEngine engine(task.server().runtime(), options_of_test(), task.server().context());
  begin_or_join(engine);
  StageSpec read = stage_of("read_text", true);
  read.parts = 3;
  read.owners = {0, 1, 2};
  read.body = [](Part&) { ++made; };
  const auto kept = engine.run(std::move(read), 1).kept;
  engine.run(sum_of({{1, true, 2}}, {1}), 2);
  task.sleep(30s);
  engine.run(sum_of({{1, true, 1}, {1, true, 2}}, owners), 3);
  engine.end();
}

void read_anywhere(SimTask& task) { read_what_two_have_made(task, {}); }
void read_at_one_of_them(SimTask& task) { read_what_two_have_made(task, {1}); }

// The part of the third task is waited for. It is there, but computes for so long before it comes to the
// stage.
void keep_at_each_after(SimTask& task, std::chrono::seconds computing) {
  JobEngine engine(task.server().runtime(), options_of_test(), task.server().context());
  begin_or_join(engine);
  StageSpec keep = stage_of("share", true);
  keep.parts = 3;
  keep.owners = {0, 1, 2};
  if (task.server().name().index == 2) task.sleep(computing);
  engine.run(std::move(keep), 1);
  engine.end();
}

void keep_at_each(SimTask& task) { keep_at_each_after(task, 1h); }
void keep_at_each_late(SimTask& task) { keep_at_each_after(task, 50s); }

// The first task's program computes for so long before the second stage, and before the job's end.
void come_before_the_first(SimTask& task, std::chrono::seconds before_stage,
                           std::chrono::seconds before_end) {
  JobEngine engine(task.server().runtime(), options_of_test(), task.server().context());
  begin_or_join(engine);
  engine.run(stage_of("read_text", false), 1);
  if (engine.coordinates()) task.sleep(before_stage);
  engine.run(stage_of("reduce_by_key", false), 2);
  if (engine.coordinates()) task.sleep(before_end);
  engine.end();
}

void wait_for_a_stage_for_ever(SimTask& task) { come_before_the_first(task, 1h, 0s); }
void wait_for_the_end_for_ever(SimTask& task) { come_before_the_first(task, 0s, 1h); }
void wait_for_a_while(SimTask& task) { come_before_the_first(task, 50s, 2min); }
void wait_for_longer(SimTask& task) { come_before_the_first(task, 75s, 0s); }

// Its part of the second stage has its input at the second task, which comes to that stage much later.
std::atomic<int> read_by_the_first{0};

void read_where_it_is_made(SimTask& task) {
  JobEngine engine(task.server().runtime(), options_of_test(), task.server().context());
  begin_or_join(engine);
  StageSpec read = stage_of("read_text", true);
  read.owners = {0, 1};
  const auto kept = engine.run(std::move(read), 1).kept;
  if (!engine.coordinates()) task.sleep(2min);
  StageSpec sum = stage_of("reduce_by_key", false);
  sum.inputs = [](std::size_t part) { return std::vector{SliceSet{1, true, part}}; };
  sum.body = [is_first = engine.coordinates()](Part&) { read_by_the_first += is_first; };
  try {
    engine.run(std::move(sum), 2);
    engine.end();
  } catch (const JobIsOver&) {
  }
}

// The second task does not hear of it that the first one is lost and comes back: it computes meanwhile,
// for longer than a coordinator is waited for.
void outlast_the_first(SimTask& task) {
  while (true) try {
      JobEngine engine(task.server().runtime(), options_of_test(), task.server().context());
      if (engine.coordinates())
        engine.begin({});
      else
        engine.join();
      engine.run(stage_of("read_text", false), 1);
      if (engine.coordinates() || !begun_anew) task.sleep(40s);
      engine.run(stage_of("reduce_by_key", false), 2);
      return engine.end();
    } catch (const JobBeginsAnew&) {
      begun_anew = true;
    } catch (const JobIsOver&) {
      return;
    }
}

void come_and_go(SimCluster& sim, const std::string& task) {
  for (auto at = 4s; at < 280s; at += 4s) {
    sim.at(at).kill(task);
    sim.at(at + 2s).restart(task);
  }
}

SimOptions five_minutes() {
  SimOptions options = of_this_seed({});
  options.time_limit = 5min;
  return options;
}

// With the last that its tasks have said.
std::string how_it_ends(SimCluster& sim, void (*program)(SimTask&)) {
  try {
    sim.start(program).finish();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "it has ended well";
}

}  // namespace

SIMULATION_TEST(a_part_whose_input_is_nowhere_ends_the_job_and_is_named, seeds(1, 20)) {
  SimCluster sim({{"local", 2}}, five_minutes());
  const std::string why = how_it_ends(sim, read_what_is_forgotten);
  for (const char* expected :
       {" failed: reduce_by_key: part ", " of 2 at /job:local/task:", "without having run",
        "the records of stage run 1 are not kept here", "it is tried again"})
    BOOST_TEST(why.find(expected) != why.npos, why);
}

SIMULATION_TEST(a_part_at_one_of_two_tasks_that_are_apart_goes_to_a_third, seeds(1, 20)) {
  made = 0;
  SimCluster sim({{"local", 3}}, five_minutes());
  sim.at(10s).partition("/job:local/task:1", "/job:local/task:2", 4min);
  BOOST_TEST(how_it_ends(sim, read_anywhere) == "it has ended well");
  BOOST_TEST(made == 3);  // nothing was lost
}

SIMULATION_TEST(two_tasks_that_are_apart_are_named_where_no_third_can_help, seeds(1, 20)) {
  SimCluster sim({{"local", 3}}, five_minutes());
  sim.at(10s).partition("/job:local/task:1", "/job:local/task:2", 4min);
  const std::string why = how_it_ends(sim, read_at_one_of_them);
  BOOST_TEST(
      why.find("/job:local/task:1 cannot reach /job:local/task:2, which has part 2 of stage run 1, "
               "though /job:local/task:0 reaches both") != why.npos,
      why);
}

SIMULATION_TEST(an_owner_is_not_waited_for_any_longer_since_others_come_and_go, seeds(1, 20)) {
  SimCluster sim({{"local", 3}}, five_minutes());
  sim.at(0ms).kill("/job:local/task:2");
  come_and_go(sim, "/job:local/task:1");
  const std::string why = how_it_ends(sim, keep_at_each);
  for (const char* expected :
       {"share: waited 2", " s for /job:local/task:2, for which part 2 of 3 is: start that task"})
    BOOST_TEST(why.find(expected) != why.npos, why);
}

// It would be there often enough for a wait that has no other bound.
SIMULATION_TEST(an_owner_that_comes_and_goes_is_not_waited_for_without_end, seeds(1, 20)) {
  SimCluster sim({{"local", 3}}, five_minutes());
  come_and_go(sim, "/job:local/task:2");
  const std::string why = how_it_ends(sim, keep_at_each);
  BOOST_TEST(why.find(" s for /job:local/task:2, for which part 2 of 3 is: start that task") != why.npos,
             why);
}

SIMULATION_TEST(an_owner_whose_program_does_not_come_is_named_and_ends_the_job, seeds(1, 20)) {
  SimCluster sim({{"local", 3}}, five_minutes());
  const std::string why = how_it_ends(sim, keep_at_each);
  for (const char* expected :
       {" s for /job:local/task:2, for which part 2 of 3 is, and which is there",
        " unavailable: share: waited 6",
        ", and which is there: but its program has come to no stage of the job 'shares', not to run 1: "
        "see what it does before this stage"})
    BOOST_TEST(why.find(expected) != why.npos, why);
}

SIMULATION_TEST(an_owner_whose_program_comes_late_is_waited_for, seeds(1, 20)) {
  SimCluster sim({{"local", 3}}, five_minutes());
  BOOST_TEST(how_it_ends(sim, keep_at_each_late) == "it has ended well");
}

SIMULATION_TEST(a_task_that_comes_to_a_stage_before_the_first_one_names_it_and_ends, seeds(1, 20)) {
  SimCluster sim({{"local", 2}}, five_minutes());
  const std::string why = how_it_ends(sim, wait_for_a_stage_for_ever);
  for (const char* expected :
       {" reduce_by_key: waited 2 s for /job:local/task:0, which is there: but its program has come to "
        "stage run 1 of the job, not to run 2",
        " unavailable: reduce_by_key: waited 6",
        ", not to run 2: see what it does before this stage, or give it more time with "
        "--program_timeout_ms"})
    BOOST_TEST(why.find(expected) != why.npos, why);
}

SIMULATION_TEST(a_first_task_that_does_not_end_the_job_is_named, seeds(1, 20)) {
  SimCluster sim({{"local", 2}}, five_minutes());
  const std::string why = how_it_ends(sim, wait_for_the_end_for_ever);
  BOOST_TEST(why.find(" s: the job has yet to end at /job:local/task:0") != why.npos, why);
}

SIMULATION_TEST(a_first_task_that_comes_late_is_waited_for, seeds(1, 20)) {
  SimCluster sim({{"local", 2}}, five_minutes());
  BOOST_TEST(how_it_ends(sim, wait_for_a_while) == "it has ended well");
}

// It was there for less than its program is waited for.
SIMULATION_TEST(a_first_task_that_was_out_of_reach_is_waited_for_anew, seeds(1, 20)) {
  SimCluster sim({{"local", 2}}, five_minutes());
  sim.at(20s).partition("/job:local/task:0", "/job:local/task:1", 15s);
  BOOST_TEST(how_it_ends(sim, wait_for_longer) == "it has ended well");
}

SIMULATION_TEST(parts_that_have_their_input_at_a_task_that_is_late_run_elsewhere, seeds(1, 20)) {
  read_by_the_first = 0;
  SimCluster sim({{"local", 2}}, five_minutes());
  BOOST_TEST(how_it_ends(sim, read_where_it_is_made) == "it has ended well");
  BOOST_TEST(read_by_the_first == 2);
}

SIMULATION_TEST(a_coordinator_that_was_lost_is_waited_for_since_it_is_wanted, seeds(1, 20)) {
  begun_anew = false;
  SimCluster sim({{"local", 2}}, five_minutes());
  sim.at(5s).kill("/job:local/task:0");
  sim.at(6s).restart("/job:local/task:0");
  sim.at(35s).partition("/job:local/task:0", "/job:local/task:1", 10s);
  BOOST_TEST(how_it_ends(sim, outlast_the_first) == "it has ended well");
  BOOST_TEST(begun_anew);
}

BOOST_AUTO_TEST_SUITE_END()
