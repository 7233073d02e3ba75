// Queries 1 and 3 of TPC-H over its tables as CSV with a header, or as Parquet (PyPI's tpchgen-cli csv
// or parquet writes them).
//
//   sql q1 --lineitem lineitem.csv --output q1
//   sql q3 --customer customer.csv --orders orders.csv --lineitem lineitem.csv --output q3
//   sql q1 --lineitem lineitem.parquet --output q1
#include "apps/jobs/sql_q1.h"
#include "apps/jobs/sql_q3.h"

int main(int argc, char** argv) {
  return actorflow::run_jobs(argc, argv, {{"q1", actorflow::tpch_q1}, {"q3", actorflow::tpch_q3}});
}
