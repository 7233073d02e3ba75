// Joins two files of rows "key,value" by key: rows "key,value of the left,value of the right".
//
//   join --left cities.csv --right countries.csv --output joined [--kind left|outer]
#include "apps/jobs/join.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"join", actorflow::join_files}});
}
