// Finds the most frequent words.
//
//   top_k --input 'books/*.txt' --output top --k 20
#include "apps/jobs/top_k.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"top_k", actorflow::most_frequent_words}});
}
