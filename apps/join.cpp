// Joins two files of rows "key,value" by key: rows "key,value of the left,value of the right".
//
//   join --left cities.csv --right countries.csv --output joined [--kind left|outer]
#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

using Row = std::pair<std::string_view, std::string_view>;

void join(Job& job) {
  const auto left = job.read_csv<Row>(job.param("left")), right = job.read_csv<Row>(job.param("right"));
  const std::string kind = job.param("kind", "inner"), output = job.param("output");
  if (kind == "inner")
    left.join(right).write_csv(output);
  else if (kind == "left")
    left.left_join(right).write_csv(output);
  else if (kind == "outer")
    left.outer_join(right).write_csv(output);
  else
    throw invalid_argument("--kind: expected inner, left or outer, got '" + kind + "'");
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"join", join}}); }
