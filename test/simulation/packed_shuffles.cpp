// Jobs whose records travel between machines as LZ4 or zstd blocks, through kills and on bad disks.
#include <boost/test/unit_test.hpp>

#include "actors/probes/point.h"
#include "test/simulation/support/word_job.h"

BOOST_AUTO_TEST_SUITE(packed_shuffles)

using namespace actorflow;
using test::count_words_through;

namespace {

const std::vector<FaultKind> disturbances{FaultKind::kill, FaultKind::disk_errors, FaultKind::disk_full,
                                          FaultKind::duplicate};
constexpr const char *by_lz4 = "slices come packed by LZ4 from another machine",
                     *by_zstd = "slices come packed by zstd from another machine",
                     *fetched = "slices come from another task";

}  // namespace

SIMULATION_TEST(blocks_of_lz4_survive_kills_and_bad_disks, seeds(1, 100)) {
  count_words_through(disturbances, 3, Compression::lz4);
}

SIMULATION_TEST(blocks_of_zstd_survive_kills_and_bad_disks, seeds(1, 100)) {
  count_words_through(disturbances, 3, Compression::zstd);
}

SIMULATION_TEST(records_that_are_not_packed_survive_them_too, seeds(1, 30)) {
  count_words_through(disturbances, 3, Compression::none);
}

// Or the cases above would say nothing: each kind comes, in runs that are disturbed, and no other.
BOOST_AUTO_TEST_CASE(slices_come_packed_as_the_job_says) {
  const auto hits_of = [](Compression shuffled) {
    Point::take_all();
    const auto failure =
        run_seeds({1, 20}, [shuffled] { count_words_through(disturbances, 3, shuffled); }, {});
    BOOST_TEST(!failure, (failure ? failure->to_string() : ""));
    return Point::take_all();
  };
  const auto lz4 = hits_of(Compression::lz4), zstd = hits_of(Compression::zstd),
             none = hits_of(Compression::none);
  BOOST_TEST((lz4.at(by_lz4) > 20u && lz4.at(by_zstd) == 0u));
  BOOST_TEST((zstd.at(by_zstd) > 20u && zstd.at(by_lz4) == 0u));
  BOOST_TEST((none.at(by_lz4) == 0u && none.at(by_zstd) == 0u && none.at(fetched) > 20u));
}

BOOST_AUTO_TEST_CASE(slices_travel_as_the_first_task_says) {
  Point::take_all();
  const auto failure =
      run_seeds({1, 5},
                [] {
                  SimOptions options = of_this_seed({});
                  options.longest_kernel = std::chrono::milliseconds(4);  // so that each task has parts
                  SimCluster sim({{"local", 3}}, options);
                  sim.start([](SimTask& task) {
                       const bool is_first = task.server().name().index == 0;
                       test::run_task(task, is_first ? Compression::zstd : Compression::none);
                     })
                      .finish();
                  if (test::output_of(sim) != test::undisturbed_words())
                    throw std::runtime_error("the files are other ones");
                },
                {});
  BOOST_TEST(!failure, (failure ? failure->to_string() : ""));
  const auto hits = Point::take_all();
  BOOST_TEST(hits.at(fetched) > 20u);
  BOOST_TEST(hits.at(by_zstd) == hits.at(fetched));
}

BOOST_AUTO_TEST_SUITE_END()
