// Which files each word occurs in: rows "word,number of files,files", by word.
//
//   inverted_index --input books --output index
#include "apps/jobs/inverted_index.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"inverted_index", actorflow::inverted_index}});
}
