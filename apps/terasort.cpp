// Sorts records of 100 bytes by their first 10, as the sort benchmark does (sortbenchmark.org). gensort
// makes some.
//
//   terasort --input unsorted --output sorted
#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

struct Row {
  std::array<std::uint8_t, 10> key;
  std::array<std::uint8_t, 90> rest;
};

void terasort(Job& job) {
  job.read_records<Row>(job.param("input")).sort_by(&Row::key).write_records(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"terasort", terasort}}); }
