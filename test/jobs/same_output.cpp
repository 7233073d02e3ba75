// What does not depend on threads and memory: the result; and what goes to disk for that.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "test/jobs/support/test_job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(same_output)

using namespace actorflow;
using test::small_parts;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// Sums, groups, sorted and joined records of some text, in a folder each.
void all_kinds(Job& job, const std::string& input, const std::string& output) {
  const auto pairs = job.read_text(input).flat_map(words).map([](auto word) {
    return std::pair{word, 0.1 * double(word.size())};
  });
  pairs.reduce_by_key(std::plus<>()).write_csv(output + "/sums");
  pairs
      .group_by_key([](auto word, auto& values) {
        double sum = 0;
        for (const double value : values) sum = sum / 2 + value;
        return std::pair{std::string(word), sum};
      })
      .write_csv(output + "/groups");
  pairs.sort_by([](const auto& pair) { return std::pair(pair.second, pair.first); })
      .write_csv(output + "/sorted");
  pairs.distinct().join(pairs.count_by_key()).write_csv(output + "/joined");
}

std::map<std::string, std::string> files_below(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& kind : {"sums", "groups", "sorted", "joined"})
    for (auto& [name, text] : test::files_of(folder + "/" + kind)) files[kind + ("/" + name)] = text;
  return files;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_output_is_the_same_for_any_number_of_threads) {
  const test::Folder folder;
  const std::string input = ACTORFLOW_SOURCE_DIR "/apps/data/shakespeare/shakespeare.txt";
  std::map<std::string, std::string> first;
  for (const std::size_t threads : {1, 2, 4}) {
    JobOptions options = small_parts(threads);
    options.split_bytes = 5'000;
    options.partition_bytes = 40'000;
    Job job(options);
    const std::string output = folder.file(std::to_string(threads));
    all_kinds(job, input, output);
    const auto files = files_below(output);
    BOOST_TEST(files.size() > 20u);
    if (first.empty()) first = files;
    BOOST_TEST((files == first), threads << " threads");
  }
}

// What was kept lies in one chunk, or in several: of 6.4 MB those of the least memory have 3 MiB.
BOOST_AUTO_TEST_CASE(what_was_kept_is_divided_alike_for_any_memory) {
  const test::Folder folder;
  std::map<std::string, std::string> first;
  for (const std::size_t memory : {48 * mib, 1024 * mib}) {
    JobOptions options;
    options.threads = 1;
    options.memory_bytes = memory;
    options.partitions = 3;
    Job job(options);
    const std::string output = folder.file(std::to_string(memory));
    job.from(std::vector<std::int64_t>{0, 1}, 2)
        .flat_map([](std::int64_t half) {
          return std::views::iota(half * 400'000, (half + 1) * 400'000) |
                 std::views::transform([](std::int64_t n) {
                   const auto number = scrambled(static_cast<std::uint64_t>(n));
                   return std::pair{static_cast<std::int64_t>(number % 5), n};
                 });
        })
        .cache()
        .sort_by([](const auto& pair) { return pair.first; })
        .write_csv(output);
    const auto files = test::files_of(output);
    if (first.empty()) first = files;
    BOOST_TEST((files == first), memory / mib << " MiB");
  }
}

// Blocks of the file, of 1 MiB or less, do not end where chunks do.
BOOST_AUTO_TEST_CASE(records_that_are_kept_block_by_block_are_those_of_the_file) {
  using Row = std::array<std::uint8_t, 13>;
  const test::Folder folder;
  std::vector<Row> rows(700'000);
  for (std::size_t i = 0; i < rows.size(); ++i) std::memcpy(rows[i].data(), &i, sizeof i);
  test::write_file(folder.file("rows.bin"),
                   {reinterpret_cast<const char*>(rows.data()), 13 * rows.size()});
  for (const bool on_disk : {false, true}) {
    JobOptions options;
    options.threads = 1;
    options.memory_bytes = 48 * mib;
    options.records_on_disk = on_disk;
    Job job(options);
    const auto kept = job.read_records<Row>(folder.file("rows.bin")).cache();
    BOOST_TEST((kept.collect() == rows));
    BOOST_TEST(kept.count() == rows.size());
  }
}

// Each run has every tenth number, with its own in the second place; equal keys keep the runs' order.
BOOST_AUTO_TEST_CASE(more_runs_than_can_be_read_at_once_are_merged_by_and_by) {
  using Pair = std::pair<std::int64_t, std::int64_t>;
  constexpr auto here = std::source_location::current();
  const auto merge_runs = [here](std::int64_t count) {
    const KeyOrder<Pair, std::int64_t Pair::*> order(&Pair::first, SortOrder::ascending,
                                                     make_operator<Pair>("sort_by", here));
    Part& part = *Part::current();
    std::vector<Run> runs;
    for (std::int64_t run = 0; run < count; ++run) {
      RunWriter writer(part);
      for (std::int64_t n = run % 2; n < 100; n += 10) {
        const Pair pair(n, run);
        encode(pair, writer.append(encoded_size(pair)));
      }
      runs.push_back(writer.finish());
    }
    runs = fewer_runs<Pair>(part, std::move(runs), order, 4 * RunWriter::block_bytes);
    if (runs.size() > 4) return std::string("too many runs are left");
    MergedRuns<Pair, decltype(order)> merged(part, std::move(runs), order);
    std::int64_t seen = 0;
    Pair before(-1, 0);
    for (const Pair* pair; (pair = merged.next()); ++seen, before = *pair)
      if (*pair <= before) return std::string("not in order");
    return std::string(seen == 10 * count ? "merged" : "records are missing");
  };
  for (const std::int64_t count : {1, 4, 5, 7, 8, 17, 100}) {
    Job job(small_parts());
    const auto told = job.from(std::vector<std::int64_t>{count}).map(merge_runs).collect();
    BOOST_TEST(told.at(0) == "merged", count << " runs: " << told.at(0));
  }
}

// Sums of floating-point numbers, whose last bits tell in which order they were folded, in a table that
// holds all keys, some, or few: 600,000 keys, each in several parts.
BOOST_AUTO_TEST_CASE(the_output_is_the_same_for_any_memory) {
  const test::Folder folder;
  std::map<std::string, std::string> first;
  std::set<bool> spills;
  for (const std::size_t memory : {48 * mib, 120 * mib, 1024 * mib}) {
    JobOptions options;
    options.threads = 1;
    options.memory_bytes = memory;
    options.partitions = 2;
    Job job(options);
    std::vector<std::int64_t> seeds(12);
    std::iota(seeds.begin(), seeds.end(), 0);
    const std::string output = folder.file(std::to_string(memory));
    job.from(seeds, seeds.size())
        .flat_map([](std::int64_t seed) {
          return std::views::iota(std::int64_t{0}, std::int64_t{200'000}) |
                 std::views::transform([seed](std::int64_t n) {
                   const auto number = scrambled(static_cast<std::uint64_t>(seed * 200'000 + n));
                   return std::pair{"key " + std::to_string(number % 600'000),
                                    1.0 / static_cast<double>(number % 1009 + 1)};
                 });
        })
        .reduce_by_key(std::plus<>())
        .write_csv(output);
    spills.insert(job.state()->engine().spilled_bytes() > 0);
    const auto files = test::files_of(output);
    if (first.empty()) first = files;
    BOOST_TEST((files == first), memory / mib << " MiB");
  }
  BOOST_TEST(spills.size() == 2u);
}

// A million keys of 8 bytes take about 40 MiB, three times what a part of this job may hold.
BOOST_AUTO_TEST_CASE(what_does_not_fit_into_memory_goes_to_disk_and_comes_back) {
  constexpr std::int64_t count = 1'000'000;
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = 48 * mib;
  options.partitions = 1;
  Job job(options);
  const auto numbers =
      job.from(std::vector<std::int64_t>{0, 1, 2, 3}, 4).flat_map([](std::int64_t quarter) {
        return std::views::iota(quarter * count / 2, quarter * count / 2 + count / 2) |
               std::views::transform([](std::int64_t n) {
                 return std::pair{n % count, n};
               });
      });
  const auto check_sums = [](const auto& sums) {
    return sums.fold(
        std::pair<std::int64_t, std::int64_t>(),
        [](auto state, const auto& pair) {
          const bool right = pair.second == 2 * pair.first + count;
          return std::pair<std::int64_t, std::int64_t>(state.first + right, state.second + !right);
        },
        [](auto a, auto b) {
          return std::pair<std::int64_t, std::int64_t>(a.first + b.first, a.second + b.second);
        });
  };
  BOOST_TEST((check_sums(numbers.reduce_by_key(std::plus<>())) ==
              std::pair<std::int64_t, std::int64_t>(count, 0)));
  const auto spilled = job.state()->engine().spilled_bytes();
  BOOST_TEST(spilled > 0u);
  const auto grouped = numbers.group_by_key([](std::int64_t key, auto& values) {
    std::int64_t sum = 0;
    for (const std::int64_t value : values) sum += value;
    return std::pair{key, sum};
  });
  BOOST_TEST((check_sums(grouped) == std::pair<std::int64_t, std::int64_t>(count, 0)));
  BOOST_TEST(job.state()->engine().spilled_bytes() > spilled);
  const auto in_order =
      numbers.sort_by([](const auto& pair) { return pair.first; })
          .fold(
              std::pair<std::int64_t, std::int64_t>(-1, 0),
              [](auto state, const auto& pair) {
                return std::pair(pair.first, state.second + (pair.first < state.first));
              },
              [](auto a, auto b) { return std::pair(b.first, a.second + b.second); });
  BOOST_TEST(in_order.first == count - 1);
  BOOST_TEST(in_order.second == 0);
}

// What the values of a table hold is counted: 72 MB, of which a part of this job may hold 48. The chunks
// before it fit into memory.
BOOST_AUTO_TEST_CASE(values_that_hold_memory_of_their_own_go_to_disk_too) {
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = 256 * mib;
  options.partitions = 1;
  std::vector<std::int64_t> seeds(60);
  std::iota(seeds.begin(), seeds.end(), 0);
  const auto texts = [&seeds](const Job& job) {
    return job.from(seeds, 6).flat_map([](std::int64_t seed) {
      return std::views::iota(std::int64_t{0}, std::int64_t{2'000}) |
             std::views::transform([seed](std::int64_t n) {
               return std::pair{n + 2'000 * (seed / 2),
                                std::string(600, static_cast<char>('a' + seed % 2))};
             });
    });
  };
  Job job(options);
  const auto right = texts(job).reduce_by_key(std::plus<>()).filter([](const auto& pair) {
    return pair.second == std::string(600, 'a') + std::string(600, 'b');
  });
  BOOST_TEST(right.count() == 60'000u);
  BOOST_TEST(job.state()->engine().spilled_bytes() > 0u);

  options.memory_bytes = 48 * mib;
  Job small(options);
  const Status status = test::status_of([&] {
    texts(small)
        .map([](auto pair) {
          return std::pair{0, std::move(pair.second)};
        })
        .reduce_by_key(std::plus<>())
        .count();
  });
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(status.message.find("the value of the key 0 has grown to") != status.message.npos,
             status.message);
}

// 48 MB go to disk, and again as the sort's runs.
BOOST_AUTO_TEST_CASE(runs_that_can_be_compressed_are_smaller_on_disk) {
  const auto spilled = [](bool random) {
    JobOptions options;
    options.threads = 1;
    options.memory_bytes = 48 * mib;
    options.partitions = 1;
    options.records_on_disk = true;
    Job job(options);
    const auto count = job.from(std::vector<std::uint64_t>{0, 1, 2, 3}, 4)
                           .flat_map([random](std::uint64_t quarter) {
                             return std::views::iota(quarter * 75'000, (quarter + 1) * 75'000) |
                                    std::views::transform([random](std::uint64_t n) {
                                      std::array<std::uint64_t, 20> row;
                                      for (std::size_t i = 0; i < row.size(); ++i)
                                        row[i] = random ? scrambled(20 * n + i) : n + i;
                                      return row;
                                    });
                           })
                           .sort_by([](const auto& row) { return row[0]; })
                           .count();
    BOOST_TEST(count == 300'000u);
    return job.state()->engine().spilled_bytes();
  };
  const auto random = spilled(true), regular = spilled(false);
  BOOST_TEST(random >= 2u * 48'000'000);
  BOOST_TEST(random - regular > 36'000'000u);
}

BOOST_AUTO_TEST_SUITE_END()
