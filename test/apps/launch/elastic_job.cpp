#include "apps/launch/run/elastic_job.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(elastic_job)

using namespace actorflow;

namespace {

// Tasks 0 and 1 of a job that has begun; task 2 is there, and not asked yet.
struct Begun {
  Begun() {
    JobSpec spec;
    spec.workers = 2;
    job.emplace(spec, ElasticJob::Hands{.label = [](int) { return std::string("worker"); },
                                        .address = [](int, std::uint16_t) { return std::string("a:1"); },
                                        .tell = [](int, const std::string&) {},
                                        .takes_part = [this](int task) { parts.push_back(task); },
                                        .signal = [](int, int) {},
                                        .say = [](const std::string&) {},
                                        .fail = [](const std::string&) {}});
    for (const int task : {0, 1}) job->started(task);
    for (const int task : {0, 1}) job->take(task, "join 0 -1 5000\n");
    job->follow_book();
    job->started(2);
  }

  std::vector<int> parts;
  std::optional<ElasticJob> job;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_task_takes_part_when_it_is_told_its_place, Begun) {
  BOOST_TEST(parts == (std::vector<int>{0, 1}));
}

BOOST_FIXTURE_TEST_CASE(after_the_end_of_training_a_member_can_fail_and_others_cannot, Begun) {
  BOOST_TEST(job->ended(1, 0, false));
  BOOST_TEST(job->is_complete());
  BOOST_TEST(!job->ended(0, 1, false));
  BOOST_TEST(job->ended(2, 137, false));
}

BOOST_FIXTURE_TEST_CASE(who_has_said_that_it_leaves_does_not_fail, Begun) {
  job->take(1, "leave\n");
  BOOST_TEST(job->ended(1, 1, false));
  BOOST_TEST(!job->is_complete());
  BOOST_TEST(!job->ended(0, 1, false));
}

BOOST_FIXTURE_TEST_CASE(a_member_that_was_asked_to_end_has_not_seen_the_end_of_training, Begun) {
  job->ended(1, 0, true);
  BOOST_TEST(!job->is_complete());
}

BOOST_AUTO_TEST_SUITE_END()
