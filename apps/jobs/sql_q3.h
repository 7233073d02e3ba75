// Query 3 of TPC-H: the ten orders with the largest revenue that were not shipped by a day.
#pragma once

#include "apps/jobs/tpch_tables.h"

namespace actorflow {

inline void tpch_q3(Job& job) {
  const auto customers = tpch_customers(job)
                             .filter([](const TpchCustomer& c) { return c.segment == "BUILDING"; })
                             .map([](const TpchCustomer& c) {
                               return std::pair{c.key, std::uint8_t{}};
                             });
  const auto orders = tpch_orders(job)
                          .filter([](const TpchOrder& o) { return o.date < "1995-03-15"; })
                          .map([](const TpchOrder& o) {
                            return std::pair{o.customer, std::tuple{o.key, o.date, o.ship_priority}};
                          })
                          .join(customers)
                          .map([](const auto& pair) {
                            const auto& [key, date, priority] = pair.second.first;
                            return std::pair{key, std::pair{date, priority}};
                          });
  tpch_line_items(job)
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

}  // namespace actorflow
