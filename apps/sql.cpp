// Queries 1 and 3 of TPC-H over its tables as CSV with a header (PyPI's tpchgen-cli csv writes them).
//
//   sql q1 --lineitem lineitem.csv --output q1
//   sql q3 --customer customer.csv --orders orders.csv --lineitem lineitem.csv --output q3
#include "apps/jobs/sql.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"q1", actorflow::tpch_q1}, {"q3", actorflow::tpch_q3}});
}
