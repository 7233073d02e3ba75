// Tables of TPC-H, as CSV with a header or as Parquet: rows with the columns that the queries need.
#pragma once

#include <cmath>

#include "actors/jobs/job.h"

namespace actorflow {

struct TpchCustomer {
  std::int64_t key;
  std::string_view segment;
};
struct TpchOrder {
  std::int64_t key, customer;
  std::string_view date;
  std::int64_t ship_priority;
};
struct TpchLineItem {
  std::int64_t order;
  std::array<double, 4> numbers;  // quantity, price, discount, tax
  char returned, status;
  std::string_view shipped;

  // Exact integers: quantities in units, prices in hundredths and products with one more factor in
  // ten-thousandths of the currency.
  std::int64_t quantity() const { return std::llround(numbers[0]); }
  std::int64_t cents() const { return std::llround(numbers[1] * 100); }
  std::int64_t discount() const { return std::llround(numbers[2] * 100); }
  std::int64_t tax() const { return std::llround(numbers[3] * 100); }
  std::int64_t revenue() const { return cents() * (100 - discount()); }
};

inline auto tpch_customers(Job& job) {
  return job.read_table<TpchCustomer>(job.param("customer"), {"c_custkey", "c_mktsegment"});
}
inline auto tpch_orders(Job& job) {
  return job.read_table<TpchOrder>(job.param("orders"),
                                   {"o_orderkey", "o_custkey", "o_orderdate", "o_shippriority"});
}
inline auto tpch_line_items(Job& job) {
  return job.read_table<TpchLineItem>(
      job.param("lineitem"), {"l_orderkey", "l_quantity", "l_extendedprice", "l_discount", "l_tax",
                              "l_returnflag", "l_linestatus", "l_shipdate"});
}

}  // namespace actorflow
