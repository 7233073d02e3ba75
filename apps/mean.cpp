// The mean of the numbers in some files, one in a line: printed, or, with --output, a row "mean,count".
//
//   mean --input numbers.txt [--output folder]
#include "apps/jobs/mean.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"mean", actorflow::mean_of_numbers}});
}
