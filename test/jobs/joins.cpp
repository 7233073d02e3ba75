// What becomes of two collections by key.
#include <boost/test/unit_test.hpp>
#include <map>
#include <numeric>
#include <ranges>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "test/jobs/support/test_job.h"

BOOST_AUTO_TEST_SUITE(joins)

using namespace actorflow;
using test::small_parts;

namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::string>>;
using Side = std::optional<std::string>;
using Row = std::pair<std::int64_t, std::pair<Side, Side>>;

// Of `count` pairs the key of every `one_in`-th is `hot`, the others are any of `keys`.
Pairs pairs_with(std::int64_t hot, std::int64_t one_in, std::int64_t count, std::int64_t keys,
                 const std::string& prefix) {
  Pairs pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto other = scrambled(static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(keys);
    pairs.emplace_back(i % one_in == 0 ? hot : static_cast<std::int64_t>(other),
                       prefix + std::to_string(i));
  }
  return pairs;
}

struct Expected {
  std::vector<Row> inner, lefts, rights;  // sorted; those without a partner
};

Expected expected_of(const Pairs& left, const Pairs& right) {
  std::multimap<std::int64_t, std::string> by_key(right.begin(), right.end());
  std::set<std::int64_t> keys;
  Expected rows;
  for (const auto& [key, value] : left) {
    keys.insert(key);
    const auto [first, last] = by_key.equal_range(key);
    for (auto it = first; it != last; ++it) rows.inner.push_back({key, {value, it->second}});
    if (first == last) rows.lefts.push_back({key, {value, std::nullopt}});
  }
  for (const auto& [key, value] : right)
    if (!keys.contains(key)) rows.rights.push_back({key, {std::nullopt, value}});
  return rows;
}

std::vector<Row> sorted(std::vector<Row> rows, const std::vector<Row>& more = {}) {
  rows.insert(rows.end(), more.begin(), more.end());
  std::ranges::sort(rows);
  return rows;
}

template <class Joined>
std::vector<Row> rows_of(const Joined& joined) {
  std::vector<Row> rows;
  for (const auto& [key, sides] : joined.collect()) rows.push_back({key, {sides.first, sides.second}});
  return sorted(rows);
}

// Pairs of the left are given once, however often the right has their key.
void check_matches(const auto& a, const auto& b, const Pairs& left, const Pairs& right) {
  std::set<std::int64_t> keys;
  for (const auto& pair : right) keys.insert(pair.first);
  Pairs with, without;
  for (const auto& pair : left) (keys.contains(pair.first) ? with : without).push_back(pair);
  const auto in_order = [](Pairs pairs) {
    std::ranges::stable_sort(pairs, {}, &Pairs::value_type::first);
    return pairs;
  };
  BOOST_TEST((in_order(a.semi_join(b).collect()) == in_order(with)));
  BOOST_TEST((in_order(a.anti_join(b).collect()) == in_order(without)));
}

void check_joins(const Pairs& left, const Pairs& right, std::size_t partitions) {
  JobOptions options = small_parts();
  options.partitions = partitions;
  Job job(options);
  const auto a = job.from(left, 4), b = job.from(right, 3);
  const Expected expected = expected_of(left, right);
  BOOST_TEST((rows_of(a.join(b)) == sorted(expected.inner)));
  BOOST_TEST((rows_of(a.left_join(b)) == sorted(expected.inner, expected.lefts)));
  auto all = expected.inner;
  all.insert(all.end(), expected.lefts.begin(), expected.lefts.end());
  BOOST_TEST((rows_of(a.outer_join(b)) == sorted(all, expected.rights)));
  check_matches(a, b, left, right);
}

}  // namespace

BOOST_AUTO_TEST_CASE(joins_give_each_pair_of_values_with_equal_keys) {
  const Pairs left = pairs_with(7, 300, 300, 100, "l"), right = pairs_with(7, 200, 200, 150, "r");
  const Expected expected = expected_of(left, right);
  BOOST_REQUIRE((!expected.inner.empty() && !expected.lefts.empty() && !expected.rights.empty()));
  check_joins(left, right, 0);
}

BOOST_AUTO_TEST_CASE(a_side_of_a_match_may_be_empty_or_of_texts) {
  Job job(small_parts());
  using Words = std::vector<std::pair<std::string, int>>;
  const Words words = {{"a", 1}, {"", 2}, {"a", 3}};
  const auto left = job.from(words);
  const auto none = job.from(std::vector<std::pair<std::string, double>>());
  BOOST_TEST((left.semi_join(none).collect() == Words()));
  BOOST_TEST(left.anti_join(none).count() == 3);
  BOOST_TEST(none.anti_join(left).count() == 0);
  const auto views =
      left.map([](const auto& pair) { return std::pair(std::string_view("a"), pair.second); });
  const auto by_view =
      left.map([](const auto& pair) { return std::pair(std::string_view(pair.first), pair.second); });
  BOOST_TEST((by_view.semi_join(views).map([](auto pair) { return pair.second; }).collect() ==
              std::vector{1, 3}));
}

BOOST_AUTO_TEST_CASE(a_hot_key_of_either_side_or_both_meets_each_value_once) {
  check_joins(pairs_with(1000, 2, 600, 100, "l"), pairs_with(1000, 50, 300, 150, "r"), 8);
  check_joins(pairs_with(1000, 50, 300, 150, "l"), pairs_with(1000, 2, 600, 100, "r"), 8);
  check_joins(pairs_with(1000, 3, 300, 100, "l"), pairs_with(1000, 2, 300, 150, "r"), 8);
  // On the other side it does not exist.
  check_joins(pairs_with(1000, 2, 600, 100, "l"), pairs_with(2000, 2, 300, 150, "r"), 8);
}

BOOST_AUTO_TEST_CASE(the_pairs_of_a_hot_key_are_joined_in_several_parts) {
  const test::Folder folder;
  std::map<std::string, std::string> first;
  for (const std::size_t threads : {1, 2, 4}) {
    JobOptions options = small_parts(threads);
    options.partitions = 8;
    Job job(options);
    const std::string output = folder.file(std::to_string(threads));
    job.from(pairs_with(1000, 2, 4000, 500, "l"), 5)
        .join(job.from(pairs_with(1000, 500, 1000, 500, "r"), 3))
        .write_csv(output);
    const auto files = test::files_of(output);
    std::size_t all = 0, largest = 0;
    for (const auto& [name, text] : files)
      if (name != "_SUCCESS") {
        all += text.size();
        largest = std::max(largest, text.size());
      }
    BOOST_TEST(largest < all / 4);  // without: more than a half
    if (first.empty()) first = files;
    BOOST_TEST((files == first), threads << " threads");
  }
}

BOOST_AUTO_TEST_CASE(the_values_of_one_key_need_not_fit_into_memory) {
  constexpr std::int64_t count = 200'000;  // of 70 bytes; the join may hold 6 MiB of them
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = std::size_t{48} << 20;
  options.partitions = 1;
  Job job(options);
  std::vector<std::int64_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  const auto rights = job.from(all, 4).map([](std::int64_t n) {
    std::string text = std::to_string(n);
    text.resize(40, ' ');
    return std::pair{std::int64_t{1}, text};
  });
  const auto lefts = job.from(Pairs{{1, "a"}, {2, "b"}, {1, "c"}});
  const auto rows = lefts.join(rights).fold(
      std::pair<std::int64_t, std::int64_t>(),  // rows, those that are not where they should be
      [](auto state, const auto& row) {
        const bool right = std::stoll(row.second.second) == state.first % count &&
                           row.second.first == (state.first < count ? "a" : "c");
        return std::pair<std::int64_t, std::int64_t>(state.first + 1, state.second + !right);
      },
      [](auto a, auto b) {
        return std::pair<std::int64_t, std::int64_t>(a.first + b.first, a.second + b.second);
      });
  BOOST_TEST(rows.first == 2 * count);
  BOOST_TEST(rows.second == 0);
  BOOST_TEST(job.state()->engine().spilled_bytes() > 0u);
}

BOOST_AUTO_TEST_CASE(a_function_gets_the_values_of_both_sides_by_key) {
  Job job(small_parts());
  const Pairs left = pairs_with(7, 300, 300, 100, "l"), right = pairs_with(7, 200, 200, 150, "r");
  std::map<std::int64_t, std::string> expected;
  for (const auto& [key, value] : left) expected[key] += value + " ";
  for (const auto& [key, value] : right) expected[key] += value + " ";
  const auto joined =
      job.from(left, 4).co_group(job.from(right, 3), [](std::int64_t key, auto& lefts, auto& rights) {
        std::string text;
        for (const auto& value : lefts) text += value + " ";
        for (const auto& value : rights) text += value + " ";
        return std::pair{key, text};
      });
  const auto rows = joined.collect();
  BOOST_TEST(rows.size() == expected.size());
  BOOST_TEST((std::map<std::int64_t, std::string>(rows.begin(), rows.end()) == expected));
  // What a function leaves is passed over.
  const auto firsts =
      job.from(left, 4).co_group(job.from(right, 3), [](std::int64_t key, auto&, auto& rights) {
        return std::pair{key, rights.begin() == rights.end() ? std::string() : *rights.begin()};
      });
  for (const auto& [key, text] : firsts.collect())
    BOOST_TEST((text.empty() ? expected[key].find('r') == std::string::npos
                             : expected[key].find(text + " ") != std::string::npos));
}

// Of each side about 20 MB in a part that holds 24 MiB with its tables. The right has every third key
// twice.
BOOST_AUTO_TEST_CASE(matches_that_do_not_fit_into_memory_are_those_that_do) {
  constexpr std::int64_t keys = 300'000;
  const auto pairs_of = [](const Job& job, std::int64_t step) {
    return job.from(std::vector<std::int64_t>{0, 1}, 2).flat_map([step](std::int64_t half) {
      return std::views::iota(std::int64_t{0}, keys / step) |
             std::views::transform([step, half](std::int64_t n) {
               return std::pair{"a key with the number " + std::to_string(n * step), 2 * n + half};
             });
    });
  };
  using Pairs = std::vector<std::pair<std::string, std::int64_t>>;
  Pairs with, without;
  for (const std::size_t mib : {48, 1024}) {
    JobOptions options;
    options.threads = 1;
    options.memory_bytes = mib << 20;
    options.partitions = 1;
    Job job(options);
    const auto left = pairs_of(job, 1), right = pairs_of(job, 3);
    const Pairs semi = left.semi_join(right).collect(), anti = left.anti_join(right).collect();
    BOOST_TEST((job.state()->engine().spilled_bytes() > 0) == (mib == 48));
    if (with.empty()) std::tie(with, without) = std::pair(semi, anti);
    BOOST_TEST((semi == with));
    BOOST_TEST((anti == without));
  }
  BOOST_TEST(with.size() == 2 * keys / 3);
  BOOST_TEST(without.size() == 2 * keys - 2 * keys / 3);
  BOOST_TEST(std::ranges::all_of(with, [](const auto& pair) { return pair.second / 2 % 3 == 0; }));
}

BOOST_AUTO_TEST_SUITE_END()
