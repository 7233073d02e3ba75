#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "test/jobs/support/test_job.h"

BOOST_AUTO_TEST_SUITE(operators)

using namespace actorflow;
using test::numbers;
using test::small_parts;

namespace {

// In no order, with repetitions.
std::vector<std::int64_t> scrambled_numbers(std::int64_t count, std::int64_t limit) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < count; ++i)
    all.push_back(static_cast<std::int64_t>(scrambled(static_cast<std::uint64_t>(i)) %
                                            static_cast<std::uint64_t>(limit)));
  return all;
}

template <class T>
std::vector<T> sorted(std::vector<T> values) {
  std::ranges::sort(values);
  return values;
}

}  // namespace

BOOST_AUTO_TEST_CASE(words_are_counted_as_a_map_counts_them) {
  const std::string path = ACTORFLOW_SOURCE_DIR "/apps/data/shakespeare/shakespeare.txt";
  std::map<std::string, std::int64_t> expected;
  std::istringstream text(read_text_file(path).value());
  for (std::string word; text >> word;) ++expected[word];
  JobOptions options = small_parts();
  options.split_bytes = 10'000;
  options.partition_bytes = 50'000;
  Job job(options);
  const auto counts = job.read_text(path)
                          .flat_map(words)
                          .map([](auto word) {
                            return std::pair{word, std::int64_t{1}};
                          })
                          .reduce_by_key(std::plus<>{})
                          .collect();
  BOOST_TEST(counts.size() == expected.size());
  BOOST_TEST((std::map<std::string, std::int64_t>(counts.begin(), counts.end()) == expected));
}

BOOST_AUTO_TEST_CASE(texts_are_joined_with_a_separator_between_them) {
  TextJoiner join(',');
  BOOST_TEST(join(std::vector<std::string>{"a", "", "bc"}) == "a,,bc");
  BOOST_TEST(join(std::vector{7, 12}, [](int n) { return std::to_string(n); }) == "7,12");
  BOOST_TEST(join(std::vector<std::string>()) == "");
  BOOST_TEST(join(std::vector<std::string>{""}) == "");

  Job job(small_parts());
  const auto lines = job.from(numbers(100), 7)
                         .map([join](std::int64_t n) mutable {
                           return join(std::vector{n, n + 1}, [](auto m) { return std::to_string(m); });
                         })
                         .collect();
  BOOST_TEST(lines.size() == 100u);
  BOOST_TEST(lines[41] == "41,42");
}

BOOST_AUTO_TEST_CASE(narrow_operators_keep_the_order_of_the_input) {
  Job job(small_parts());
  const auto result = job.from(numbers(1000), 7)
                          .map([](std::int64_t n) { return n * 2; })
                          .filter([](std::int64_t n) { return n % 4 == 0; })
                          .flat_map([](std::int64_t n) {
                            return std::vector{n, n + 1};
                          })
                          .collect();
  std::vector<std::int64_t> expected;
  for (std::int64_t n = 0; n < 2000; n += 4) expected.insert(expected.end(), {n, n + 1});
  BOOST_TEST(result == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(elements_of_a_vector_are_moved_out_of_it) {
  Job job(small_parts());
  const std::string text(100, 'x');
  const auto result = job.from(numbers(3))
                          .flat_map([text](std::int64_t) {
                            return std::vector{text, text};
                          })
                          .collect();
  BOOST_TEST(result == std::vector<std::string>(6, text), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(no_records_give_no_records) {
  Job job(small_parts());
  const auto none = job.from(numbers(0), 3);
  const auto pairs = none.key_by([](std::int64_t n) { return n; });
  BOOST_TEST(none.count() == 0u);
  BOOST_TEST(none.sort_by(std::identity()).collect().empty());
  BOOST_TEST(pairs.count_by_key().collect().empty());
  BOOST_TEST(pairs.join(pairs).collect().empty());
  BOOST_TEST(pairs.outer_join(pairs).collect().empty());
  BOOST_TEST(none.partition_by(3).collect().empty());
  BOOST_TEST(none.distinct().collect().empty());
  BOOST_TEST(none.top(3).collect().empty());
  BOOST_TEST(none.sample(3, 1).collect().empty());
  BOOST_TEST(!none.reduce(std::plus<>()).has_value());
  BOOST_TEST(none.fold(std::int64_t{7}, std::plus<>(), std::plus<>()) == 21);  // 7 of each part
}

BOOST_AUTO_TEST_CASE(values_of_a_key_are_folded_in_the_order_of_the_input) {
  Job job(small_parts());
  const auto joined = job.from(numbers(2000), 9)
                          .map([](std::int64_t n) {
                            return std::pair{n % 3, std::to_string(n) + " "};
                          })
                          .reduce_by_key(std::plus<>())
                          .collect();
  BOOST_TEST(joined.size() == 3u);
  for (const auto& [key, text] : joined) {
    std::string expected;
    for (std::int64_t n = key; n < 2000; n += 3) expected += std::to_string(n) + " ";
    BOOST_TEST(text == expected);
  }
}

BOOST_AUTO_TEST_CASE(groups_have_all_values_of_a_key_in_order_whatever_the_function_reads) {
  Job job(small_parts());
  const auto pairs =
      job.from(numbers(5000), 11).key_by([](std::int64_t n) { return std::to_string(n % 17); });
  const auto firsts = pairs
                          .group_by_key([](const std::string& key, auto& values) {
                            return std::pair{key, *values.begin()};  // the others are left
                          })
                          .collect();
  BOOST_TEST(firsts.size() == 17u);
  for (const auto& [key, first] : firsts) BOOST_TEST(key == std::to_string(first));
  const auto groups = pairs.group_by_key().collect();
  BOOST_TEST(groups.size() == 17u);
  for (const auto& [key, values] : groups) {
    BOOST_TEST(std::ranges::is_sorted(values));
    BOOST_TEST(values.size() == static_cast<std::size_t>(5000 / 17 + (std::stoi(key) < 5000 % 17)));
  }
}

BOOST_AUTO_TEST_CASE(values_are_folded_into_states_of_another_type) {
  Job job(small_parts());
  const auto means =
      job.from(numbers(2000), 9)
          .map([](std::int64_t n) {
            return std::pair{std::to_string(n % 3), n};
          })
          .fold_by_key(
              std::pair<std::int64_t, double>(),
              [](auto sum, std::int64_t n) { return std::pair(sum.first + 1, sum.second + double(n)); },
              [](auto a, const auto& b) { return std::pair(a.first + b.first, a.second + b.second); })
          .collect();
  BOOST_TEST(means.size() == 3u);
  for (const auto& [key, sum] : means) {
    double expected = 0;
    std::int64_t count = 0;
    for (std::int64_t n = std::stoll(key); n < 2000; n += 3, ++count) expected += double(n);
    BOOST_TEST(sum.first == count);
    BOOST_TEST(sum.second == expected);
  }
}

BOOST_AUTO_TEST_CASE(records_are_dealt_out_or_divided_by_a_key) {
  const test::Folder folder;
  Job job(small_parts());
  const auto all = job.from(numbers(1000), 7);
  all.partition_by(4).write_csv(folder.file("dealt"));
  const auto dealt = test::files_of(folder.file("dealt"));
  BOOST_TEST(dealt.size() == 5u);  // with _SUCCESS
  for (const auto& [name, text] : dealt)
    if (name != "_SUCCESS")
      BOOST_TEST((std::ranges::count(text, '\n') > 246 && std::ranges::count(text, '\n') < 254), name);
  BOOST_TEST((sorted(all.partition_by(4).collect()) == numbers(1000)));

  const auto last_digit = [](std::int64_t n) { return n % 10; };
  all.partition_by(last_digit, 5).write_csv(folder.file("by_digit"));
  std::map<std::int64_t, std::string> file_of;
  std::size_t rows = 0;
  for (const auto& [name, text] : test::files_of(folder.file("by_digit"))) {
    if (name == "_SUCCESS") continue;
    std::istringstream lines(text);
    std::map<std::int64_t, std::int64_t> before;
    for (std::int64_t n; lines >> n; ++rows) {
      BOOST_TEST(file_of.try_emplace(n % 10, name).first->second == name);
      BOOST_TEST((!before.contains(n % 10) || before[n % 10] < n));
      before[n % 10] = n;
    }
  }
  BOOST_TEST(rows == 1000u);
}

BOOST_AUTO_TEST_CASE(a_sort_is_stable_in_both_directions_and_over_all_partitions) {
  JobOptions options = small_parts();
  options.partitions = 5;
  Job job(options);
  const auto keys = scrambled_numbers(10'000, 50);
  std::vector<std::pair<std::int64_t, std::int64_t>> records;
  for (std::size_t i = 0; i < keys.size(); ++i)
    records.emplace_back(keys[i], static_cast<std::int64_t>(i));
  auto expected = records;
  std::ranges::stable_sort(expected, {}, [](const auto& record) { return record.first; });
  const auto collection = job.from(records, 8);
  const auto first = [](const auto& record) { return record.first; };
  BOOST_TEST((collection.sort_by(first).collect() == expected));
  std::ranges::stable_sort(expected, std::greater(), [](const auto& record) { return record.first; });
  BOOST_TEST((collection.sort_by(first, SortOrder::descending).collect() == expected));
}

// The first half of a key is the prefix by which most keys are sorted: here all have the same one. Where
// a pivot is looked for, there are NaNs.
BOOST_AUTO_TEST_CASE(nan_in_a_key_of_several_fields_comes_last) {
  std::vector<std::pair<std::int64_t, double>> rows;
  for (int i = 0; i < 100; ++i) rows.emplace_back(7, i % 5 == 0 || i == 74 ? std::nan("") : 100 - i);
  for (const std::size_t partitions : {1, 3}) {
    JobOptions options = small_parts();
    options.partitions = partitions;
    const auto sorted_rows = Job(options).from(rows, 4).sort_by(std::identity()).collect();
    BOOST_TEST_REQUIRE(sorted_rows.size() == rows.size());
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const double before = sorted_rows[i - 1].second, value = sorted_rows[i].second;
      BOOST_TEST((before < value || std::isnan(value)), i << ": " << before << ", " << value);
    }
  }
}

BOOST_AUTO_TEST_CASE(texts_with_long_common_beginnings_are_sorted) {
  JobOptions options = small_parts();
  options.partitions = 3;
  Job job(options);
  std::vector<std::string> texts;
  for (const std::int64_t n : scrambled_numbers(3000, 500))
    texts.push_back("the same beginning " + std::to_string(n));
  texts.emplace_back();
  const auto result = job.from(texts, 4).sort_by(std::identity()).collect();
  BOOST_TEST(result == sorted(texts), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(sorted_partitions_are_of_about_one_size_even_if_all_keys_are_equal) {
  const test::Folder folder;
  JobOptions options = small_parts();
  options.partitions = 4;
  options.split_bytes = 40'000;
  std::string bytes;
  for (std::int64_t i = 0; i < 100'000; ++i) bytes.append(reinterpret_cast<const char*>(&i), sizeof i);
  test::write_file(folder.file("numbers.bin"), bytes);
  Job job(options);
  job.read_records<std::int64_t>(folder.file("numbers.bin"))
      .sort_by([](std::int64_t) { return 1; })
      .write_records(folder.file("out"));
  std::string all;
  for (int part = 0; part < 4; ++part) {
    const std::string text =
        read_text_file(folder.file("out/part-0000" + std::to_string(part) + "-of-00004.bin")).value();
    BOOST_TEST(text.size() < 1.2 * static_cast<double>(bytes.size()) / 4);
    all += text;
  }
  BOOST_TEST((all == bytes));
}

BOOST_AUTO_TEST_CASE(sorted_partitions_are_of_about_one_size_even_if_parts_are_not) {
  const test::Folder folder;
  JobOptions options = small_parts();
  options.partitions = 4;
  Job job(options);
  const auto sort_into = [&](const std::string& output, const auto& records) {
    records.sort_by(std::identity()).write_text(output);
    for (const auto& [name, text] : test::files_of(output))
      if (name != "_SUCCESS")
        BOOST_TEST(static_cast<double>(std::ranges::count(text, '\n')) < 1.2 * 42'000 / 4, name);
  };
  // The few are the smallest.
  const auto texts = [&](std::int64_t first, std::int64_t count) {
    std::vector<std::string> all;
    for (const std::int64_t n : numbers(count)) all.push_back(std::to_string(first + n));
    return job.from(all);
  };
  const auto few = texts(100'000, 2'000), many = texts(200'000, 40'000);
  sort_into(folder.file("values"), few.union_with(many));
  sort_into(folder.file("kept"), few.cache().union_with(many.cache()));
  few.write_text(folder.file("few"));
  many.write_text(folder.file("many"));
  JobOptions whole = options;
  whole.split_bytes = 1'000'000;
  const Job files(whole);
  sort_into(folder.file("files"),
            files.read_text(folder.file("few/")).union_with(files.read_text(folder.file("many/"))));
}

BOOST_AUTO_TEST_CASE(what_is_counted_before_a_sort_or_a_join_is_counted_once) {
  JobOptions options = small_parts();
  options.partitions = 4;
  Job job(options);
  const Counter seen = job.counter("seen");
  const auto pairs = job.from(numbers(1000), 5).key_by([seen](std::int64_t n) {
    seen.add();
    return n;
  });
  BOOST_TEST(pairs.sort_by([](const auto& pair) { return pair.first; }).count() == 1000u);
  BOOST_TEST(job.counters()["seen"] == 1000);
  BOOST_TEST(pairs.join(job.from(numbers(10)).key_by(std::identity())).count() == 10u);
  BOOST_TEST(job.counters()["seen"] == 2000);
}

BOOST_AUTO_TEST_CASE(distinct_union_and_numbers) {
  Job job(small_parts());
  const auto some = job.from(scrambled_numbers(1000, 100), 3);
  std::set<std::int64_t> expected;
  for (const std::int64_t n : scrambled_numbers(1000, 100)) expected.insert(n);
  BOOST_TEST((sorted(some.distinct().collect()) ==
              std::vector<std::int64_t>(expected.begin(), expected.end())));

  const auto both = job.from(numbers(10), 3).union_with(job.from(numbers(5), 2));
  BOOST_TEST((both.collect() == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4}));
  BOOST_TEST((both.sort_by(std::identity()).collect() ==
              std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9}));

  const auto numbered = both.zip_with_index().collect();
  BOOST_TEST(numbered.size() == 15u);
  for (std::size_t i = 0; i < numbered.size(); ++i) {
    BOOST_TEST(numbered[i].first == static_cast<std::int64_t>(i));
    BOOST_TEST(numbered[i].second == static_cast<std::int64_t>(i % 10));
  }
}

BOOST_AUTO_TEST_CASE(the_best_come_first_and_of_equal_ones_the_earlier) {
  Job job(small_parts());
  const auto records = job.from(numbers(1000), 6);
  BOOST_TEST((records.top(3).collect() == std::vector<std::int64_t>{999, 998, 997}));
  BOOST_TEST((records.top(4, [](std::int64_t n) { return n % 10; }).collect() ==
              std::vector<std::int64_t>{9, 19, 29, 39}));
  BOOST_TEST(records.top(5000).count() == 1000u);
}

BOOST_AUTO_TEST_CASE(a_sample_is_fair_and_the_same_for_the_same_seed) {
  Job job(small_parts());
  const auto records = job.from(numbers(1000), 6);
  BOOST_TEST((records.sample(10, 1).collect() == records.sample(10, 1).collect()));
  BOOST_TEST((records.sample(10, 1).collect() != records.sample(10, 2).collect()));
  BOOST_TEST(records.sample(2000, 3).count() == 1000u);
  std::vector<int> drawn(10);  // by hundreds
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    for (const std::int64_t n : records.sample(10, seed).collect())
      ++drawn[static_cast<std::size_t>(n / 100)];
  for (const int times : drawn) BOOST_TEST((times > 140 && times < 260), times << " of about 200");
}

BOOST_AUTO_TEST_CASE(folds_go_through_the_parts_in_their_order) {
  Job job(small_parts());
  const auto texts = job.from(numbers(100), 7).map([](std::int64_t n) { return std::to_string(n); });
  std::string expected;
  for (int n = 0; n < 100; ++n) expected += std::to_string(n);
  BOOST_TEST(texts.reduce(std::plus<>()).value() == expected);
  BOOST_TEST(texts.fold(std::string(), std::plus<>(), std::plus<>()) == expected);
}

// The job's own thread folds what its parts have made.
BOOST_AUTO_TEST_CASE(functions_that_fold_count_wherever_they_run) {
  Job job(small_parts());
  const Counter added = job.counter("added"), merged = job.counter("merged"), seen = job.counter("seen");
  const auto numbers = job.from(std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 3);
  const auto sum = numbers.reduce([added](int a, int b) {
    added.add();
    return a + b;
  });
  BOOST_TEST(sum.value() == 55);
  BOOST_TEST(job.counters()["added"] == 9);
  numbers.fold(0, std::plus<>(), [merged](int a, int b) {
    merged.add();
    return a + b;
  });
  BOOST_TEST(job.counters()["merged"] == 2);
  const auto best = numbers.top(2, [seen](int n) {
    seen.add();
    return n % 7;
  });
  BOOST_TEST((best.collect() == std::vector<int>{6, 5}));
  BOOST_TEST(job.counters()["seen"] >= 10);
  BOOST_CHECK_THROW(added.add(), Error);
}

BOOST_AUTO_TEST_CASE(a_fold_may_change_its_state_in_place) {
  Job job(small_parts());
  using Numbers = std::vector<std::int64_t>;
  const auto add = [](Numbers& all, std::int64_t n) { all.push_back(n); };
  const auto append = [](Numbers& all, const Numbers& later) {
    all.insert(all.end(), later.begin(), later.end());
  };
  const auto input = job.from(numbers(1000), 7);
  BOOST_TEST(input.fold(Numbers(), add, append) == numbers(1000), boost::test_tools::per_element());

  const auto by_key = input.key_by([](std::int64_t n) { return n % 3; });
  for (const auto& [key, all] : by_key.fold_by_key(Numbers(), add, append).collect()) {
    Numbers expected;
    for (std::int64_t n = key; n < 1000; n += 3) expected.push_back(n);
    BOOST_TEST(all == expected, boost::test_tools::per_element());
  }
  const auto sum = [](std::int64_t& a, std::int64_t b) { a += b; };
  BOOST_TEST(by_key.reduce_by_key(sum).count() == 3u);
  BOOST_TEST(input.reduce(sum).value() == 499'500);
}

BOOST_AUTO_TEST_CASE(what_is_kept_is_computed_once) {
  Job job(small_parts());
  const Counter computed = job.counter("computed");
  const auto kept = job.from(numbers(100), 5)
                        .map([computed](std::int64_t n) {
                          computed.add();
                          return n + 1;
                        })
                        .cache();
  BOOST_TEST(kept.count() == 100u);
  BOOST_TEST(kept.reduce(std::plus<>()).value() == 5050);
  BOOST_TEST(kept.collect().size() == 100u);
  BOOST_TEST(job.counters()["computed"] == 100);
}

BOOST_AUTO_TEST_CASE(a_fold_of_a_copy_that_gives_nothing_is_refused) {
  using State = std::vector<int>;
  const auto in_place = [](State& state, int value) { state.push_back(value); };
  const auto gives_state = [](State state, int) { return state; };
  const auto of_a_copy = [](State state, int value) { state.push_back(value); };
  const auto of_a_const = [](const State&, int) {};
  const auto of_anything = [](auto& state, auto value) { state.push_back(value); };
  BOOST_TEST((Folds<decltype(in_place), State, int>));
  BOOST_TEST((Folds<decltype(gives_state), State, int>));
  BOOST_TEST((Folds<decltype(of_anything), State, int>));
  BOOST_TEST((!Folds<decltype(of_a_copy), State, int>));
  BOOST_TEST((!Folds<decltype(of_a_const), State, int>));
  BOOST_TEST((!Folds<decltype(in_place), State, std::string>));
}

BOOST_AUTO_TEST_SUITE_END()
