// Sorts records of 100 bytes by their first 10, as the sort benchmark does (sortbenchmark.org). gensort
// makes some.
//
//   terasort --input unsorted --output sorted
#include "apps/jobs/terasort.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"terasort", actorflow::terasort}});
}
