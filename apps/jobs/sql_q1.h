// Query 1 of TPC-H, the report of prices: by return flag and status.
#pragma once

#include "apps/jobs/tpch_tables.h"

namespace actorflow {

// Of quantities, cents, revenues, charges (revenue with tax), discounts and rows.
using TpchSums = std::array<std::int64_t, 6>;

inline void tpch_q1(Job& job) {
  tpch_line_items(job)
      .filter([](const TpchLineItem& l) { return l.shipped <= "1998-09-02"; })
      .map([](const TpchLineItem& l) {
        return std::pair{std::pair{l.returned, l.status},
                         TpchSums{l.quantity(), l.cents(), l.revenue(), l.revenue() * (100 + l.tax()),
                                  l.discount(), 1}};
      })
      .reduce_by_key(AddFields())
      .sort_by([](const auto& group) { return group.first; })
      .map([](const auto& group) {
        std::array<double, 6> sums;
        std::ranges::copy(group.second, sums.begin());
        const auto [quantity, cents, revenue, charge, discount, rows] = sums;
        const double price = cents / 100, off = discount / 100;
        return std::tuple{group.first,     quantity,     price,      revenue / 1e4,  charge / 1e6,
                          quantity / rows, price / rows, off / rows, group.second[5]};
      })
      .write_csv(job.param("output"));
}

}  // namespace actorflow
