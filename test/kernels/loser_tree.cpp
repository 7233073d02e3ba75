#include "kernels/shuffle/loser_tree.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(loser_tree)

using namespace actorflow;

namespace {

using Run = std::vector<std::string>;

std::uint64_t prefix_of(const std::string& text) {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < 8; ++i)
    prefix = prefix << 8U | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  return prefix;
}

class StringCursor {
 public:
  explicit StringCursor(const Run& run) : run_(&run) {}
  bool done() const { return next_ == run_->size(); }
  std::uint64_t prefix() const { return prefix_of(run_->at(next_)); }
  std::span<const std::byte> record() const { return std::as_bytes(std::span(run_->at(next_))); }
  void advance() { ++next_; }

 private:
  const Run* run_;
  std::size_t next_ = 0;
};

struct LessBytes {
  bool operator()(std::span<const std::byte> a, std::span<const std::byte> b) const {
    return std::ranges::lexicographical_compare(a, b);
  }
};

struct Merged {
  std::string record;
  std::size_t source;
  bool operator==(const Merged&) const = default;
};

std::vector<Merged> merge(const std::vector<Run>& runs) {
  std::vector<StringCursor> cursors(runs.begin(), runs.end());
  std::vector<Merged> merged;
  LoserTree<StringCursor, LessBytes> tree(std::move(cursors));
  for (; !tree.empty(); tree.advance()) {
    const auto record = tree.record();
    merged.push_back({{reinterpret_cast<const char*>(record.data()), record.size()}, tree.source()});
    BOOST_REQUIRE_EQUAL(tree.prefix(), prefix_of(merged.back().record));
  }
  return merged;
}

void check(std::vector<Run> runs) {
  std::vector<Merged> expected;
  for (std::size_t source = 0; source < runs.size(); ++source) {
    std::ranges::sort(runs[source]);
    for (const auto& record : runs[source]) expected.push_back({record, source});
  }
  std::ranges::stable_sort(expected, {}, &Merged::record);
  BOOST_TEST((merge(runs) == expected), "runs: " << runs.size());
}

}  // namespace

BOOST_AUTO_TEST_CASE(any_number_of_runs_of_any_size_are_merged_as_by_a_stable_sort) {
  std::mt19937 random(1);
  for (std::size_t count = 0; count < 70; ++count) {
    std::vector<Run> runs(count);
    for (Run& run : runs)
      for (std::size_t size = random() % 4 == 0 ? 0 : random() % 300; run.size() < size;)
        run.push_back(std::to_string(random() % 500));
    check(runs);
  }
}

BOOST_AUTO_TEST_CASE(equal_records_come_from_the_first_runs_first) {
  check(std::vector<Run>(9, Run(20, "the same")));
}

BOOST_AUTO_TEST_CASE(full_keys_decide_where_prefixes_are_equal) {
  std::mt19937 random(2);
  std::vector<Run> runs(5);
  for (Run& run : runs)
    while (run.size() < 200) run.push_back("prefix.." + std::to_string(random() % 100));
  check(runs);
}

BOOST_AUTO_TEST_CASE(the_highest_prefix_comes_before_the_end_of_other_runs) {
  const std::string highest(8, '\xFF');
  check({{highest, highest + "a"}, {}, {"a"}, {highest, highest}, {highest + "\xFF"}, {}});
}

BOOST_AUTO_TEST_CASE(runs_one_after_the_other_and_one_run_alone) {
  check({{"a", "b"}, {"c", "d"}, {"e"}});
  check({{"e"}, {"c", "d"}, {"a", "b"}});
  check({{"a", "b", "c"}});
  check({{}});
  check({});
}

BOOST_AUTO_TEST_SUITE_END()
