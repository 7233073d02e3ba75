// Lloyd's k-means of points of 20 doubles: rows of the centres' coordinates.
//
//   k_means --input points.bin --output centres --k 16 --rounds 10 [--start centres.bin]
#include "apps/jobs/k_means.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"k_means", actorflow::k_means}});
}
