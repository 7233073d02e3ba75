#include "apps/scenario/made_inputs.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/jobs/sorting/top.h"

namespace actorflow {
namespace {

// Numbers that look random, the same on every machine.
class Dice {
 public:
  std::uint64_t below(std::uint64_t bound) { return (state_ = scrambled(state_)) % bound; }
  // In [0, 1), in steps of a millionth.
  double fraction() { return static_cast<double>(below(1'000'000)) / 1e6; }

 private:
  std::uint64_t state_ = 1;
};

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& records) {
  const auto bytes = std::as_bytes(std::span(records));
  return {bytes.begin(), bytes.end()};
}

std::string date(Dice& dice, int first_year, int years) {
  return fmt::format("{}-{:02}-{:02}", first_year + static_cast<int>(dice.below(years)),
                     1 + dice.below(12), 1 + dice.below(28));
}

std::string line_item_rows(std::uint64_t orders) {
  Dice dice;
  std::string rows =
      "l_orderkey,l_partkey,l_suppkey,l_linenumber,l_quantity,l_extendedprice,l_discount,l_tax,"
      "l_returnflag,l_linestatus,l_shipdate,l_commitdate,l_receiptdate,l_shipinstruct,l_shipmode,"
      "l_comment\n";
  for (std::uint64_t order = 1; order <= orders; ++order)
    for (std::uint64_t line = 1, lines = 1 + dice.below(4); line <= lines; ++line)
      rows += fmt::format("{},{},{},{},{},{:.2f},0.{:02},0.{:02},{},{},{},,,NONE,{},some\n", order,
                          dice.below(200), dice.below(10), line, 1 + dice.below(50),
                          1000 * dice.fraction(), dice.below(11), dice.below(9), "ANR"[dice.below(3)],
                          "FO"[dice.below(2)], date(dice, 1994, 5), dice.below(2) ? "AIR" : "RAIL");
  return rows;
}

std::string order_rows(std::uint64_t orders, std::uint64_t customers) {
  Dice dice;
  std::string rows =
      "o_orderkey,o_custkey,o_orderstatus,o_totalprice,o_orderdate,o_orderpriority,o_clerk,"
      "o_shippriority,o_comment\n";
  for (std::uint64_t order = 1; order <= orders; ++order)
    rows += fmt::format("{},{},O,{:.2f},{},1-URGENT,Clerk,0,none\n", order, 1 + dice.below(customers),
                        1000 * dice.fraction(), date(dice, 1994, 3));
  return rows;
}

std::string customer_rows(std::uint64_t customers) {
  std::string rows = "c_custkey,c_name,c_address,c_nationkey,c_phone,c_acctbal,c_mktsegment,c_comment\n";
  for (std::uint64_t customer = 1; customer <= customers; ++customer)
    rows += fmt::format("{},name,address,3,110,12.50,{},none\n", customer,
                        customer % 3 == 0 ? "BUILDING" : "MACHINERY");
  return rows;
}

std::string rows_to_join(std::uint64_t first_key, const char* value, int rows) {
  Dice dice;
  std::string text;
  for (int i = 0; i < rows; ++i) {
    const std::uint64_t key = dice.below(5) == 0 ? 77 : first_key + dice.below(400);
    text += fmt::format("k{},{}{}\n", key, value, i);
  }
  return text;
}

}  // namespace

ScenarioFiles records_to_sort() {
  Dice dice;
  ScenarioFiles files;
  for (const char* name : {"a", "b"}) {
    std::vector<std::array<std::uint8_t, 100>> rows(800);
    for (auto& row : rows) {
      const bool is_common = dice.below(3) == 0;
      for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = is_common && i < 10 ? std::uint8_t{7} : static_cast<std::uint8_t>(dice.below(256));
    }
    files[name] = bytes_of(rows);
  }
  return files;
}

ScenarioFiles tables_to_join() {
  return {{"left.csv", bytes_of(rows_to_join(0, "left", 1000))},
          {"right.csv", bytes_of(rows_to_join(200, "right", 300))}};
}

ScenarioFiles points_to_group() {
  Dice dice;
  std::vector<std::array<double, 20>> points(800);
  for (auto& point : points) {
    const auto centre = static_cast<double>(dice.below(4));
    for (auto& x : point) x = 3 * centre + dice.fraction();
  }
  return {{"points", bytes_of(points)}};
}

ScenarioFiles labelled_examples() {
  Dice dice;
  std::vector<std::array<double, 21>> examples(800);
  for (auto& example : examples) {
    double sum = 0;
    for (std::size_t i = 0; i < 20; ++i) sum += example[i] = dice.fraction() - 0.5;
    example[20] = sum > 0 ? 1 : 0;
  }
  return {{"examples", bytes_of(examples)}};
}

ScenarioFiles sparse_examples() {
  Dice dice;
  std::string text;
  for (int i = 0; i < 800; ++i) {
    std::string features;
    int lower = 0;
    for (int f = 0; f < 9; ++f) {
      const std::uint64_t feature = 1 + dice.below(60);
      lower += feature <= 30;
      features += fmt::format(" {}", feature);
    }
    text += fmt::format("{}{}\n", lower > 4 ? 1 : 0, features);
  }
  return {{"examples.txt", bytes_of(text)}};
}

ScenarioFiles numbers_as_text() {
  Dice dice;
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += fmt::format("{}\n", 100 * dice.fraction());
  return {{"numbers", bytes_of(text)}};
}

ScenarioFiles line_items() { return {{"lineitem.csv", bytes_of(line_item_rows(600))}}; }

ScenarioFiles tables_of_orders() {
  constexpr std::uint64_t orders = 600, customers = 60;
  return {{"customer.csv", bytes_of(customer_rows(customers))},
          {"orders.csv", bytes_of(order_rows(orders, customers))},
          {"lineitem.csv", bytes_of(line_item_rows(orders))}};
}

}  // namespace actorflow
