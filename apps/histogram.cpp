// How many words of a text have each length: rows "length,count".
//
//   histogram --input 'books/*.txt' --output lengths
//
// One process, as the variable that counts is its own.
#include "apps/jobs/histogram.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"histogram", actorflow::histogram_of_lengths}});
}
