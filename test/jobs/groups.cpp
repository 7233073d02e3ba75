// Values that are sorted within each key, windows over them, and the first of each key: against plain
// loops.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "test/jobs/support/test_job.h"

BOOST_AUTO_TEST_SUITE(groups)

using namespace actorflow;
using test::small_parts;

namespace {

struct Trade {
  std::int64_t time = 0, price = 0, volume = 0;
  auto operator<=>(const Trade&) const = default;
};
using Trades = std::vector<std::pair<std::string, Trade>>;

// Of stocks with few to many trades each; times and prices repeat.
Trades some_trades(std::int64_t count) {
  Trades trades;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto n = scrambled(static_cast<std::uint64_t>(i));
    const auto at = [n](int bits, std::uint64_t below) {
      return static_cast<std::int64_t>((n >> bits) % below);
    };
    trades.emplace_back("stock " + std::to_string(at(0, 5) * at(8, 9)),
                        Trade{at(16, 200), at(24, 30), i});
  }
  return trades;
}

using Sorted = std::map<std::string, std::vector<Trade>>;

template <class Before>
Sorted sorted_by(const Trades& trades, Before before) {
  Sorted by_stock;
  for (const auto& [stock, trade] : trades) by_stock[stock].push_back(trade);
  for (auto& [stock, of_stock] : by_stock) std::ranges::stable_sort(of_stock, before);
  return by_stock;
}
bool earlier(const Trade& a, const Trade& b) { return a.time < b.time; }

// The rows of each key, which must come one after the other.
template <class Rows>
auto by_key(const Rows& rows) {
  using Row = typename Rows::value_type::second_type;
  std::map<std::string, std::vector<Row>> all;
  std::string last;
  for (const auto& [key, row] : rows) {
    BOOST_TEST((key == last || !all.contains(key)), key);
    all[last = key].push_back(row);
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(values_are_sorted_within_their_keys_and_equal_ones_stay_in_order) {
  const Trades trades = some_trades(5000);
  Job job(small_parts());
  const auto by_stock = job.from(trades, 9);
  BOOST_TEST((by_key(by_stock.sort_values_by(&Trade::time).collect()) == sorted_by(trades, earlier)));
  const auto falling = by_stock.sort_values_by(&Trade::price, SortOrder::descending).collect();
  BOOST_TEST((by_key(falling) ==
              sorted_by(trades, [](const auto& a, const auto& b) { return a.price > b.price; })));
}

BOOST_AUTO_TEST_CASE(what_follows_by_key_sees_the_order_and_needs_no_shuffle) {
  const Trades trades = some_trades(3000);
  Job job(small_parts());
  const auto sorted = job.from(trades, 9).sort_values_by(&Trade::time);
  const auto cheap = sorted.filter_values([](const Trade& trade) { return trade.price < 5; })
                         .map_values([](const Trade& trade) { return trade.volume; });
  std::map<std::string, std::vector<std::int64_t>> expected;
  for (const auto& [stock, of_stock] : sorted_by(trades, earlier))
    for (const auto& trade : of_stock)
      if (trade.price < 5) expected[stock].push_back(trade.volume);

  std::map<std::string, std::vector<std::int64_t>> groups;
  for (auto& [stock, volumes] : cheap.group_by_key().collect()) groups[stock] = volumes;
  BOOST_TEST((groups == expected));
  for (const auto& [stock, last] : cheap.reduce_by_key([](auto, auto b) { return b; }).collect())
    BOOST_TEST(last == expected.at(stock).back());
  for (const auto& [stock, count] : cheap.count_by_key().collect())
    BOOST_TEST(count == static_cast<std::int64_t>(expected.at(stock).size()));
  const auto firsts = cheap.group_by_key([](const std::string&, auto& values) {
    return *values.begin();  // the others are left
  });
  BOOST_TEST(firsts.count() == expected.size());
  // One shuffle for all of them.
  std::size_t shuffles = 0;
  for (const auto& stage : job.plan()) shuffles += stage.gives == "a shuffle by key";
  BOOST_TEST(shuffles == 1u);
}

BOOST_AUTO_TEST_CASE(windows_are_what_a_loop_over_the_sorted_values_gives) {
  const Trades trades = some_trades(4000);
  Job job(small_parts());
  const auto rows =
      job.from(trades, 9)
          .sort_values_by(&Trade::price)
          .window(
              row_number(), rank_by(&Trade::price), dense_rank_by(&Trade::price),
              running_sum(&Trade::volume), running_min(&Trade::volume), running_max(&Trade::volume),
              lag(&Trade::volume), lag(&Trade::time, 3), lead(&Trade::volume),
              lead([](const Trade& trade) { return std::to_string(trade.time); }, 2),
              running(std::int64_t{7}, [](std::int64_t a, const Trade& t) { return 3 * a + t.time; }))
          .collect();
  const auto all = by_key(rows);
  const auto expected =
      sorted_by(trades, [](const auto& a, const auto& b) { return a.price < b.price; });
  BOOST_TEST(all.size() == expected.size());
  for (const auto& [stock, of_stock] : expected) {
    const auto& got = all.at(stock);
    BOOST_TEST_REQUIRE(got.size() == of_stock.size());
    std::int64_t sum = 0, least = INT64_MAX, most = 0, rank = 0, dense = 0, own = 7;
    for (std::size_t i = 0; i < of_stock.size(); ++i) {
      const Trade& trade = of_stock[i];
      const bool is_new = i == 0 || of_stock[i - 1].price != trade.price;
      if (is_new) rank = static_cast<std::int64_t>(i) + 1;
      dense += is_new;
      sum += trade.volume;
      own = 3 * own + trade.time;
      least = std::min(least, trade.volume);
      most = std::max(most, trade.volume);
      using Number = std::optional<std::int64_t>;
      const auto before = [&](std::size_t back, auto member) {
        return i < back ? Number() : Number(of_stock[i - back].*member);
      };
      const bool has_next = i + 1 < of_stock.size(), has_second = i + 2 < of_stock.size();
      const std::tuple row(
          trade, static_cast<std::int64_t>(i) + 1, rank, dense, sum, least, most,
          before(1, &Trade::volume), before(3, &Trade::time),
          has_next ? Number(of_stock[i + 1].volume) : Number(),
          has_second ? std::optional(std::to_string(of_stock[i + 2].time)) : std::nullopt, own);
      BOOST_TEST((got[i] == row), stock << ", row " << i);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_follows_a_window_by_key_needs_no_shuffle_either) {
  const Trades trades = some_trades(3000);
  Job job(small_parts());
  const auto cheapest = job.from(trades, 9)
                            .sort_values_by(&Trade::price)
                            .window(row_number(), lead(&Trade::price))
                            .filter_values([](const auto& row) { return std::get<1>(row) <= 3; })
                            .map_values([](const auto& row) { return std::get<0>(row); })
                            .group_by_key()
                            .collect();
  const auto bottom = job.from(trades, 9).bottom_by_key(3, &Trade::price).collect();
  using ByKey = std::map<std::string, std::vector<Trade>>;
  BOOST_TEST((ByKey(cheapest.begin(), cheapest.end()) == ByKey(bottom.begin(), bottom.end())));
  BOOST_TEST(job.plan()[1].reads.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_first_of_each_key_are_those_of_a_stable_sort) {
  const Trades trades = some_trades(5000);
  Job job(small_parts());
  const auto by_stock = job.from(trades, 9);
  using ByKey = std::map<std::string, std::vector<Trade>>;
  for (const std::size_t n : {1, 3, 1000}) {
    ByKey top = sorted_by(trades, [](const auto& a, const auto& b) { return a.price > b.price; });
    for (auto& [stock, of_stock] : top) of_stock.resize(std::min(n, of_stock.size()));
    const auto got = by_stock.top_by_key(n, &Trade::price).collect();
    BOOST_TEST((ByKey(got.begin(), got.end()) == top), n);
  }
  // By an order of one's own: the highest price, then the earliest time.
  ByKey best = sorted_by(trades, [](const auto& a, const auto& b) {
    return std::pair(-a.price, a.time) < std::pair(-b.price, b.time);
  });
  for (auto& [stock, of_stock] : best) of_stock.resize(std::min<std::size_t>(4, of_stock.size()));
  const auto got =
      by_stock.bottom_by_key(4, [](const Trade& trade) { return std::pair(-trade.price, trade.time); })
          .collect();
  BOOST_TEST((ByKey(got.begin(), got.end()) == best));
  for (const auto& [stock, none] : by_stock.top_by_key(0, &Trade::price).collect())
    BOOST_TEST(none.empty());
}

BOOST_AUTO_TEST_CASE(keys_values_and_what_becomes_of_values) {
  Job job(small_parts());
  const std::vector<std::pair<std::string, std::vector<int>>> pairs{
      {"a", {1, 2}}, {"b", {}}, {"c", {3}}};
  const auto all = job.from(pairs, 2);
  BOOST_TEST((all.keys().collect() == std::vector<std::string>{"a", "b", "c"}));
  BOOST_TEST((all.values().collect() == std::vector<std::vector<int>>{{1, 2}, {}, {3}}));
  using Sizes = std::vector<std::pair<std::string, std::size_t>>;
  BOOST_TEST((all.map_values([](const auto& v) { return v.size(); }).collect() ==
              Sizes{{"a", 2}, {"b", 0}, {"c", 1}}));
  BOOST_TEST((all.filter_values([](const auto& v) { return v.size() == 1; }).count() == 1));
  using Pairs = std::vector<std::pair<std::string, int>>;
  BOOST_TEST((all.flat_map_values(std::identity()).collect() == Pairs{{"a", 1}, {"a", 2}, {"c", 3}}));
  BOOST_TEST((all.flat_map_values([](const auto& v) { return std::vector(v.size(), 7); }).collect() ==
              Pairs{{"a", 7}, {"a", 7}, {"c", 7}}));
}

// Of one key 500,000 values, 12 MB in a part that holds 24 MiB with its tables; and keys with one each.
BOOST_AUTO_TEST_CASE(a_group_larger_than_memory_is_sorted_on_disk) {
  constexpr std::int64_t count = 1'000'000;
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = std::size_t{48} << 20;
  options.partitions = 1;
  Job job(options);
  const auto pairs =
      job.from(std::vector<std::int64_t>{0, 1, 2, 3}, 4).flat_map([](std::int64_t quarter) {
        return std::views::iota(quarter * count / 4, (quarter + 1) * count / 4) |
               std::views::transform([](std::int64_t n) {
                 const auto value = static_cast<std::int64_t>(scrambled(static_cast<std::uint64_t>(n)));
                 return std::pair{n % 2 == 0 ? 0 : n, std::pair{value, n}};
               });
      });
  const auto sorted = pairs.sort_values_by([](const auto& value) { return value.first; });
  const auto seen = sorted
                        .group_by_key([](std::int64_t, auto& values) {
                          std::int64_t size = 0, before = INT64_MIN;
                          for (const auto& [value, n] : values) {
                            if (value < before) return std::int64_t{-1};
                            before = value;
                            ++size;
                          }
                          return size;
                        })
                        .collect();
  BOOST_TEST(seen.size() == 500'001u);
  BOOST_TEST(std::ranges::max(seen) == 500'000);
  BOOST_TEST(std::ranges::count(seen, 1) == 500'000);
  BOOST_TEST(job.state()->engine().spilled_bytes() > 0u);
}

// As where the hashes of two keys are the same.
BOOST_AUTO_TEST_CASE(keys_of_one_hash_are_told_apart) {
  using Pair = std::pair<std::string, std::int64_t>;
  struct OneHash : ValueOrder<std::string, std::int64_t, std::identity> {
    using ValueOrder::ValueOrder;
    std::uint64_t prefix(const Pair&) const { return 7; }
  };
  const auto sorted = [](const std::string& keys) {
    const OneHash order(KeyOrder<std::int64_t, std::identity>(
        {}, SortOrder::ascending,
        make_operator<std::int64_t>("sort_values_by", std::source_location::current())));
    std::vector<std::byte> bytes;
    for (std::int64_t n = 0; n < 300; ++n) {
      const Pair pair(keys.substr(static_cast<std::size_t>(n) % keys.size(), 1), n * 7 % 100);
      bytes.resize(bytes.size() + encoded_size(pair));
      encode(pair, bytes.data() + bytes.size() - encoded_size(pair));
    }
    RecordSorter<Pair, OneHash> sorter(*Part::current(), std::size_t{1} << 20, order);
    sorter.add({bytes, 300, true});
    std::vector<Pair> pairs;
    while (const Pair* pair = sorter.next()) pairs.push_back(*pair);
    return std::pair(pairs.size(), std::ranges::is_sorted(pairs));
  };
  Job job(small_parts());
  for (const auto& result : job.from(std::vector<std::string>{"a", "ab", "ccb"}).map(sorted).collect())
    BOOST_TEST((result == std::pair(std::size_t{300}, true)));
}

BOOST_AUTO_TEST_CASE(a_value_that_fails_leaves_out_its_key) {
  JobOptions options = small_parts();
  options.skip_bad_records = 5;
  Job job(options);
  const Trades trades = some_trades(2000);
  const auto counts = job.from(trades, 3)
                          .sort_values_by(&Trade::time)
                          .map_values([](const Trade& trade) {
                            if (trade.volume == 77) throw std::runtime_error("no such volume");
                            return trade.volume;
                          })
                          .window(lead(std::identity()))
                          .count_by_key()
                          .collect();
  const auto expected = sorted_by(trades, earlier);
  BOOST_TEST(counts.size() == expected.size() - 1);
  for (const auto& [stock, count] : counts) {
    BOOST_TEST(stock != trades[77].first);
    BOOST_TEST(count == static_cast<std::int64_t>(expected.at(stock).size()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
