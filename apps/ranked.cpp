// Ranks the numbers of each key.
//
//   ranked --input sales.csv --output ranked --k 10 --divide_by country
#include "apps/jobs/ranked.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"ranked", actorflow::ranked_rows}});
}
