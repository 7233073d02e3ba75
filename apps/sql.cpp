// Queries 1 and 3 of TPC-H over its tables as CSV with a header (PyPI's tpchgen-cli csv writes them).
//
//   sql q1 --lineitem lineitem.csv --output q1
//   sql q3 --customer customer.csv --orders orders.csv --lineitem lineitem.csv --output q3
#include <cmath>

#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

using Text = std::string_view;
struct Customer {
  std::int64_t key;
  std::array<Text, 5> name_to_balance;
  Text segment, comment;
};
struct Order {
  std::int64_t key, customer;
  Text status, price, date;
  std::array<Text, 2> priority_clerk;
  std::int64_t ship_priority;
  Text comment;
};
struct LineItem {
  std::int64_t order;
  std::array<Text, 3> part_to_line;
  std::array<double, 4> numbers;  // quantity, price, discount, tax
  char returned, status;
  Text shipped;
  std::array<Text, 5> rest;

  // In units of 1, 100 and 10,000 to the currency's: exact.
  std::int64_t quantity() const { return std::llround(numbers[0]); }
  std::int64_t cents() const { return std::llround(numbers[1] * 100); }
  std::int64_t discount() const { return std::llround(numbers[2] * 100); }
  std::int64_t tax() const { return std::llround(numbers[3] * 100); }
  std::int64_t revenue() const { return cents() * (100 - discount()); }
};

// Of quantities, cents, revenues, charges (revenue with tax), discounts and rows.
struct Sums {
  std::array<std::int64_t, 6> sum;

  friend Sums operator+(Sums a, const Sums& b) {
    for (std::size_t i = 0; i < a.sum.size(); ++i) a.sum[i] += b.sum[i];
    return a;
  }
};

constexpr CsvInput header{.header = true};

// The report of prices: by return flag and status.
void q1(Job& job) {
  job.read_csv<LineItem>(job.param("lineitem"), header)
      .filter([](const LineItem& l) { return l.shipped <= "1998-09-02"; })
      .map([](const LineItem& l) {
        return std::pair{std::pair{l.returned, l.status},
                         Sums{{l.quantity(), l.cents(), l.revenue(), l.revenue() * (100 + l.tax()),
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
void q3(Job& job) {
  const auto customers = job.read_csv<Customer>(job.param("customer"), header)
                             .filter([](const Customer& c) { return c.segment == "BUILDING"; })
                             .map([](const Customer& c) {
                               return std::pair{c.key, std::uint8_t{}};
                             });
  const auto orders = job.read_csv<Order>(job.param("orders"), header)
                          .filter([](const Order& o) { return o.date < "1995-03-15"; })
                          .map([](const Order& o) {
                            return std::pair{o.customer, std::tuple{o.key, o.date, o.ship_priority}};
                          })
                          .join(customers)
                          .map([](const auto& pair) {
                            const auto& [key, date, priority] = pair.second.first;
                            return std::pair{key, std::pair{date, priority}};
                          });
  job.read_csv<LineItem>(job.param("lineitem"), header)
      .filter([](const LineItem& l) { return l.shipped > "1995-03-15"; })
      .map([](const LineItem& l) {
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

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"q1", q1}, {"q3", q3}}); }
