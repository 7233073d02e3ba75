// Records within records: vectors in rows of CSV, and keys that are vectors of structs.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "test/jobs/support/test_job.h"

BOOST_AUTO_TEST_SUITE(nested_records)

using namespace actorflow;
using test::small_parts;

namespace {

struct Stop {
  std::string name;
  double at = 0;
};
using Route = std::vector<Stop>;

// Of 1000 walks with one of 40 routes, some of which begin like others; -0.0 and 0.0 are one time.
Route route_of(std::int64_t walk) {
  Route route;
  for (std::int64_t i = 0; i < walk % 8; ++i)
    route.push_back(
        {"stop " + std::to_string(i * (walk % 5)), i == 0 && walk % 2 == 0 ? -0.0 : 0.5 * double(i)});
  return route;
}
std::string text_of(const Route& route) {
  std::string text;
  for (const auto& [name, at] : route) text += name + "@" + std::to_string(std::abs(at)) + ";";
  return text;
}
// As keys are ordered: stop by stop, and of two that begin alike the shorter comes first.
bool before(const Route& a, const Route& b) {
  return std::ranges::lexicographical_compare(a, b, [](const Stop& x, const Stop& y) {
    return std::pair(x.name, x.at) < std::pair(y.name, y.at);
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(vectors_of_structs_are_keys) {
  Job job(small_parts());
  const auto walks = job.from(test::numbers(1000), 7).key_by(route_of);
  std::map<std::string, std::vector<std::int64_t>> expected;
  for (std::int64_t walk = 0; walk < 1000; ++walk) expected[text_of(route_of(walk))].push_back(walk);

  std::map<std::string, std::vector<std::int64_t>> groups;
  for (const auto& [route, all] : walks.group_by_key().collect()) groups[text_of(route)] = all;
  BOOST_TEST((groups == expected));
  const auto counts = walks.count_by_key().collect();
  BOOST_TEST(counts.size() == expected.size());
  for (const auto& [route, count] : counts)
    BOOST_TEST(count == static_cast<std::int64_t>(expected.at(text_of(route)).size()));
  BOOST_TEST(walks.keys().distinct().count() == expected.size());

  const auto few = walks.filter_values([](std::int64_t walk) { return walk < 3; });
  std::size_t pairs = 0;
  for (std::int64_t walk = 0; walk < 3; ++walk) pairs += expected.at(text_of(route_of(walk))).size();
  BOOST_TEST(walks.join(few).count() == pairs);
  BOOST_TEST(walks.semi_join(few).count() + walks.anti_join(few).count() == 1000u);
}

BOOST_AUTO_TEST_CASE(vectors_of_structs_are_sorted) {
  JobOptions options = small_parts();
  options.partitions = 4;
  Job job(options);
  const auto routes = job.from(test::numbers(1000), 7).map(route_of).sort_by(std::identity()).collect();
  BOOST_TEST(routes.size() == 1000u);
  BOOST_TEST(std::ranges::is_sorted(routes, before));
  const auto best = job.from(test::numbers(1000), 7).map(route_of).top(1).collect();
  BOOST_TEST(text_of(best.at(0)) == text_of(routes.back()));
}

BOOST_AUTO_TEST_CASE(a_vector_is_one_column_of_csv_and_is_read_again) {
  const test::Folder folder;
  Job job(small_parts());
  using Row = std::pair<std::int64_t, std::vector<std::string>>;
  std::vector<Row> rows;
  for (std::int64_t n = 0; n < 200; ++n) {
    rows.emplace_back(n, std::vector<std::string>());
    for (std::int64_t i = 0; i < n % 5; ++i)
      rows.back().second.push_back(i == 1 ? "" : i == 2 ? "two words, \"quoted\"" : std::to_string(n));
  }
  job.from(rows, 3).write_csv(folder.file("texts"));
  BOOST_TEST((job.read_csv<Row>(folder.file("texts")).collect() == rows));

  const auto grouped =
      job.from(test::numbers(100), 3)
          .key_by([](std::int64_t n) { return std::pair(n % 3, n % 2 == 0); })
          .group_by_key()
          .map_values([](const auto& all) { return std::pair(all, std::optional<double>()); })
          .cache();
  grouped.write_csv(folder.file("numbers"));
  using Group = std::pair<std::pair<std::int64_t, bool>,
                          std::pair<std::vector<std::int64_t>, std::optional<double>>>;
  BOOST_TEST((job.read_csv<Group>(folder.file("numbers")).collect() == grouped.collect()));
}

BOOST_AUTO_TEST_SUITE_END()
