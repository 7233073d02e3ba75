// Queries 1 and 3 of TPC-H over its tables: as Parquet if the files' names end with .parquet, else as
// CSV with a header.
#pragma once

#include <cmath>

#include "actors/jobs/job.h"

namespace actorflow {

// Rows with the columns that the queries need.
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

// Rows of CSV with all their columns.
struct TpchCustomerRow {
  std::int64_t key;
  std::array<std::string_view, 5> name_to_balance;
  std::string_view segment, comment;
};
struct TpchOrderRow {
  std::int64_t key, customer;
  std::string_view status, price, date;
  std::array<std::string_view, 2> priority_clerk;
  std::int64_t ship_priority;
  std::string_view comment;
};
struct TpchLineItemRow {
  std::int64_t order;
  std::array<std::string_view, 3> part_to_line;
  std::array<double, 4> numbers;
  char returned, status;
  std::string_view shipped;
  std::array<std::string_view, 5> rest;
};

inline constexpr CsvInput tpch_header{.header = true};

// The tables as CSV with a header.
struct TpchCsv {
  Job& job;

  auto customers() const {
    return job.read_csv<TpchCustomerRow>(job.param("customer"), tpch_header)
        .map([](const TpchCustomerRow& c) {
          return TpchCustomer{c.key, c.segment};
        });
  }
  auto orders() const {
    return job.read_csv<TpchOrderRow>(job.param("orders"), tpch_header).map([](const TpchOrderRow& o) {
      return TpchOrder{o.key, o.customer, o.date, o.ship_priority};
    });
  }
  auto line_items() const {
    return job.read_csv<TpchLineItemRow>(job.param("lineitem"), tpch_header)
        .map([](const TpchLineItemRow& l) {
          return TpchLineItem{l.order, l.numbers, l.returned, l.status, l.shipped};
        });
  }
};

// The same as Parquet, of which only the columns are read that are needed.
struct TpchParquet {
  Job& job;

  auto customers() const {
    return job.read_parquet<TpchCustomer>(job.param("customer"), {"c_custkey", "c_mktsegment"});
  }
  auto orders() const {
    return job.read_parquet<TpchOrder>(job.param("orders"),
                                       {"o_orderkey", "o_custkey", "o_orderdate", "o_shippriority"});
  }
  auto line_items() const {
    return job.read_parquet<TpchLineItem>(
        job.param("lineitem"), {"l_orderkey", "l_quantity", "l_extendedprice", "l_discount", "l_tax",
                                "l_returnflag", "l_linestatus", "l_shipdate"});
  }
};

// Whether the tables are Parquet, by the ending of lineitem's files: all tables have one format.
inline bool tpch_is_parquet(Job& job) { return job.param("lineitem").ends_with(".parquet"); }

// Of quantities, cents, revenues, charges (revenue with tax), discounts and rows.
struct TpchSums {
  std::array<std::int64_t, 6> sum;

  friend TpchSums operator+(TpchSums a, const TpchSums& b) {
    for (std::size_t i = 0; i < a.sum.size(); ++i) a.sum[i] += b.sum[i];
    return a;
  }
};

// The report of prices: by return flag and status.
template <class Tables>
void tpch_q1_of(Job& job, const Tables& tables) {
  tables.line_items()
      .filter([](const TpchLineItem& l) { return l.shipped <= "1998-09-02"; })
      .map([](const TpchLineItem& l) {
        return std::pair{std::pair{l.returned, l.status},
                         TpchSums{{l.quantity(), l.cents(), l.revenue(), l.revenue() * (100 + l.tax()),
                                   l.discount(), 1}}};
      })
      .reduce_by_key(std::plus<>{})
      .sort_by([](const auto& group) { return group.first; })
      .map([](const auto& group) {
        const auto [quantity, cents, revenue, charge, discount, n] = group.second.sum;
        const auto q = static_cast<double>(quantity), p = static_cast<double>(cents) / 100,
                   d = static_cast<double>(discount) / 100;
        const auto rows = static_cast<double>(n);
        return std::tuple{group.first,
                          q,
                          p,
                          static_cast<double>(revenue) / 1e4,
                          static_cast<double>(charge) / 1e6,
                          q / rows,
                          p / rows,
                          d / rows,
                          n};
      })
      .write_csv(job.param("output"));
}

// The ten orders with the largest revenue that were not shipped by a day.
template <class Tables>
void tpch_q3_of(Job& job, const Tables& tables) {
  const auto customers = tables.customers()
                             .filter([](const TpchCustomer& c) { return c.segment == "BUILDING"; })
                             .map([](const TpchCustomer& c) {
                               return std::pair{c.key, std::uint8_t{}};
                             });
  const auto orders = tables.orders()
                          .filter([](const TpchOrder& o) { return o.date < "1995-03-15"; })
                          .map([](const TpchOrder& o) {
                            return std::pair{o.customer, std::tuple{o.key, o.date, o.ship_priority}};
                          })
                          .join(customers)
                          .map([](const auto& pair) {
                            const auto& [key, date, priority] = pair.second.first;
                            return std::pair{key, std::pair{date, priority}};
                          });
  tables.line_items()
      .filter([](const TpchLineItem& l) { return l.shipped > "1995-03-15"; })
      .map([](const TpchLineItem& l) {
        return std::pair{l.order, l.revenue()};
      })
      .reduce_by_key(std::plus<>{})
      .join(orders)
      .top(10,
           [](const auto& o) {
             return std::pair{o.second.first, o.first};
           })
      .map([](const auto& o) {
        return std::tuple{o.first, static_cast<double>(o.second.first) / 1e4, o.second.second};
      })
      .write_csv(job.param("output"));
}

inline void tpch_q1(Job& job) {
  tpch_is_parquet(job) ? tpch_q1_of(job, TpchParquet{job}) : tpch_q1_of(job, TpchCsv{job});
}
inline void tpch_q3(Job& job) {
  tpch_is_parquet(job) ? tpch_q3_of(job, TpchParquet{job}) : tpch_q3_of(job, TpchCsv{job});
}

}  // namespace actorflow
