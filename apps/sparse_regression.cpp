// Logistic regression of sparse examples, lines "label feature feature ...": a row for each weight.
//
//   sparse_regression --input examples.txt --output weights --features 784 --rate 0.1 --epochs 2
//
// One process, as the weights are its own.
#include "apps/jobs/sparse_regression.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"sparse_regression", actorflow::sparse_regression}});
}
