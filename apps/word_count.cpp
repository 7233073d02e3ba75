// Counts words.
//
//   word_count --input 'books/*.txt' --output counts
#include "apps/jobs/word_count.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"word_count", actorflow::word_count}});
}
