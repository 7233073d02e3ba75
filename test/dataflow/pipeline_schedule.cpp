#include "dataflow/train/pipeline_schedule.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <tuple>

BOOST_AUTO_TEST_SUITE(pipeline_schedule)

using namespace actorflow;

namespace {

constexpr PipelineSchedule both[] = {PipelineSchedule::gpipe,
                                     PipelineSchedule::one_forward_one_backward};

// The time at which the last pass ends, where each stage works off its passes in their order and a pass
// also waits for the one that gives it its tensors.
int makespan(PipelineSchedule schedule, int stages, int micro_batches, int forward, int backward) {
  std::map<int, int> stage_free;
  std::map<std::tuple<int, int, bool>, int> done;
  int last = 0;
  for (const auto& [stage, micro_batch, is_backward] :
       pipeline_passes(schedule, stages, micro_batches)) {
    const int begin_after = is_backward ? (stage == stages - 1 ? done.at({stage, micro_batch, false})
                                                               : done.at({stage + 1, micro_batch, true}))
                                        : (stage == 0 ? 0 : done.at({stage - 1, micro_batch, false}));
    const int end = std::max(begin_after, stage_free[stage]) + (is_backward ? backward : forward);
    stage_free[stage] = done[{stage, micro_batch, is_backward}] = end;
    last = std::max(last, end);
  }
  return last;
}

// The most micro-batches that have been forward through the stage and not yet back.
int most_in_flight(PipelineSchedule schedule, int stage, int stages, int micro_batches) {
  int now = 0, most = 0;
  for (const PipelinePass& pass : pipeline_passes(schedule, stages, micro_batches)) {
    if (pass.stage != stage) continue;
    now += pass.backward ? -1 : 1;
    most = std::max(most, now);
  }
  return most;
}

}  // namespace

BOOST_AUTO_TEST_CASE(stages_idle_for_as_long_as_published) {
  for (const PipelineSchedule schedule : both)
    for (int p = 1; p <= 5; ++p)
      for (int m = 1; m <= 9; ++m) {
        BOOST_TEST(makespan(schedule, p, m, 1, 1) == 2 * (m + p - 1));
        BOOST_TEST(makespan(schedule, p, m, 1, 2) == 3 * (m + p - 1));
      }
}

BOOST_AUTO_TEST_CASE(a_stage_holds_few_micro_batches_with_1f1b_and_all_with_gpipe) {
  for (int p = 1; p <= 5; ++p)
    for (int m = 1; m <= 9; ++m)
      for (int stage = 0; stage < p; ++stage) {
        BOOST_TEST(most_in_flight(PipelineSchedule::gpipe, stage, p, m) == m);
        BOOST_TEST(most_in_flight(PipelineSchedule::one_forward_one_backward, stage, p, m) ==
                   std::min(m, p - stage));
      }
}

BOOST_AUTO_TEST_CASE(gradients_of_micro_batches_come_in_their_order) {
  for (const PipelineSchedule schedule : both)
    for (const bool backward : {false, true}) {
      std::vector<int> order;
      for (const PipelinePass& pass : pipeline_passes(schedule, 3, 6))
        if (pass.stage == 1 && pass.backward == backward) order.push_back(pass.micro_batch);
      BOOST_TEST(order == (std::vector{0, 1, 2, 3, 4, 5}), boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_SUITE_END()
