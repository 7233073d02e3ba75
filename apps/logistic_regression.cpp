// Logistic regression by gradient descent, of records of 20 doubles and a label, 0 or 1: one row, the
// weights and last the bias.
//
//   logistic_regression --input points --output weights --rounds 50 --rate 0.5
#include "apps/jobs/logistic_regression.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"logistic_regression", actorflow::logistic_regression}});
}
