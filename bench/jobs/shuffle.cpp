// The loops of map/reduce jobs, on one thread: grouping, sorting, merging, dividing into partitions.
// Each against the loop that one writes by hand for that task (plain_shuffle.h), and against what the
// standard library has. All tables hash with XXH3.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <queue>
#include <random>
#include <span>
#include <string>
#include <unordered_map>

#include "apps/cli/data_folder.h"
#include "bench/harness.h"
#include "bench/jobs/job_files.h"
#include "bench/jobs/plain_shuffle.h"
#include "dataflow/values/check.h"
#include "kernels/devices/device.h"
#include "kernels/shuffle/group_table.h"
#include "kernels/shuffle/loser_tree.h"
#include "kernels/shuffle/partition_buffer.h"

namespace actorflow::bench {
namespace {

constexpr int turns = 5;
constexpr std::size_t table_bytes = std::size_t{1} << 30U;

std::uint64_t hash_of(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

// Words.

std::string shakespeare(std::size_t times) {
  const std::string folder = default_data_folder("shakespeare");
  if (folder.empty()) throw Skipped("no apps/data/shakespeare");
  std::ifstream file(folder + "/shakespeare.txt", std::ios::binary);
  const std::string once{std::istreambuf_iterator<char>(file), {}};
  std::string text;
  while (times-- > 0) text += once;
  return text;
}

// Calls f(word) for what lies between spaces.
template <class F>
void for_each_word(std::string_view text, F f) {
  const auto is_space = [](char c) { return c == ' ' || ('\t' <= c && c <= '\r'); };
  for (std::size_t i = 0; i < text.size();) {
    while (i < text.size() && is_space(text[i])) ++i;
    const std::size_t begin = i;
    while (i < text.size() && !is_space(text[i])) ++i;
    if (i > begin) f(text.substr(begin, i - begin));
  }
}

// Each gives the number of different words.
std::size_t count_words(std::string_view text) {
  GroupTable<std::int64_t> table(table_bytes);
  for_each_word(text, [&](std::string_view word) {
    ++*table.find_or_insert(hash_of(word), std::as_bytes(std::span(word))).value;
  });
  return table.size();
}
std::size_t count_words_plainly(std::string_view text) {
  PlainTable table;
  for_each_word(text, [&](std::string_view word) { table.count(hash_of(word), word); });
  return table.size();
}
struct Xxh3 {
  std::size_t operator()(std::string_view word) const { return hash_of(word); }
};
std::size_t count_words_by_unordered_map(std::string_view text) {
  std::unordered_map<std::string_view, std::int64_t, Xxh3> table;
  for_each_word(text, [&](std::string_view word) { ++table[word]; });
  return table.size();
}

using CountWords = std::size_t (*)(std::string_view);
Benchmark word_count(const std::string& name, const std::string& against, CountWords plain, double bar) {
  return {name, "GB/s", against, at_least(bar), [plain](bool quick) {
            const std::string text = shakespeare(quick ? 1 : 60);
            std::size_t ours = 0, theirs = 0;
            const auto rate = [&](CountWords count, std::size_t& words) {
              return static_cast<double>(text.size()) / 1e9 / seconds_of([&] { words = count(text); });
            };
            const Measurement measured = in_turn(
                turns, [&] { return rate(count_words, ours); }, [&] { return rate(plain, theirs); });
            ACTORFLOW_CHECK(ours == theirs, "words:", ours, theirs);
            return measured;
          }};
}

// Many keys.

std::vector<std::uint64_t> numbers(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> all(count);
  for (auto& number : all) number = random();
  return all;
}

std::string_view key_of(const std::uint64_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

// In a table of so many bytes, drained each time it is full.
std::size_t group_numbers_in(std::size_t limit, std::span<const std::uint64_t> keys) {
  GroupTable<std::int64_t> table(limit);
  constexpr std::size_t ahead = 16;
  std::size_t groups = 0;
  const auto drain = [&] {
    table.for_each_partition(
        64, [](std::uint64_t hash) { return partition_of(hash, 64); },
        [&](auto&&, auto&&, auto&&, std::int64_t& count) { groups += count > 0; });
    table.clear();
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + ahead < keys.size()) table.prefetch(hash_of(key_of(keys[i + ahead])));
    if (table.full()) drain();
    ++*table.find_or_insert(hash_of(key_of(keys[i])), std::as_bytes(keys.subspan(i, 1))).value;
  }
  return groups + table.size();
}
std::size_t group_numbers(std::span<const std::uint64_t> keys) {
  return group_numbers_in(table_bytes, keys);
}
std::size_t group_numbers_in_parts(std::span<const std::uint64_t> keys) {
  return group_numbers_in(std::size_t{64} << 20U, keys);
}
std::size_t group_numbers_plainly(std::span<const std::uint64_t> keys) {
  PlainTable table;
  for (const auto& key : keys) table.count(hash_of(key_of(key)), key_of(key));
  return table.size();
}
std::size_t group_numbers_by_unordered_map(std::span<const std::uint64_t> keys) {
  std::unordered_map<std::string_view, std::int64_t, Xxh3> table;
  for (const auto& key : keys) ++table[key_of(key)];
  return table.size();
}

using GroupNumbers = std::size_t (*)(std::span<const std::uint64_t>);
Benchmark distinct_keys(const std::string& name, GroupNumbers group_ours, const std::string& against,
                        GroupNumbers plain, double bar) {
  return {name, "Mkey/s", against, at_least(bar), [=](bool quick) {
            const auto keys = numbers(quick ? 1000 : 10'000'000);
            std::size_t ours = 0, theirs = 0;
            const auto rate = [&](GroupNumbers group, std::size_t& groups) {
              return static_cast<double>(keys.size()) / 1e6 / seconds_of([&] { groups = group(keys); });
            };
            const Measurement measured = in_turn(
                quick ? 1 : 3, [&] { return rate(group_ours, ours); },
                [&] { return rate(plain, theirs); });
            ACTORFLOW_CHECK(ours == theirs, "groups:", ours, theirs);
            return measured;
          }};
}

// Records to sort, as terasort has them.

std::uint64_t prefix_of(const std::byte* record) {
  std::uint64_t prefix = 0;
  std::memcpy(&prefix, record, sizeof(prefix));
  return __builtin_bswap64(prefix);
}

struct Records {
  explicit Records(std::size_t count)
      : bytes(count * record_bytes), sorted(bytes.size()), entries(count) {
    std::mt19937_64 random(2);
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      const std::uint64_t number = random();
      std::memcpy(&bytes[i], &number, sizeof(number));
    }
  }
  void make_entries() {
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i] = {prefix_of(&bytes[i * record_bytes]), i};
  }
  int compare(const SortEntry& a, const SortEntry& b) const {
    return std::memcmp(&bytes[a.index * record_bytes], &bytes[b.index * record_bytes], key_bytes);
  }
  void sort() {
    make_entries();
    sort_entries(std::span(entries), [this](auto& a, auto& b) { return compare(a, b); });
    gather_records(entries, bytes, record_bytes, sorted.data());
  }
  void sort_plainly() {
    make_entries();
    std::ranges::sort(entries, [this](const SortEntry& a, const SortEntry& b) {
      return a.prefix != b.prefix ? a.prefix < b.prefix : compare(a, b) < 0;
    });
    for (std::size_t i = 0; i < entries.size(); ++i)
      std::memcpy(&sorted[i * record_bytes], &bytes[entries[i].index * record_bytes], record_bytes);
  }

  std::vector<std::byte> bytes, sorted;
  std::vector<SortEntry> entries;
};

Benchmark sort_records(std::size_t millions, double bar) {
  return {"shuffle/sort_" + std::to_string(millions) + "M_records", "GB/s",
          "std::sort, and a plain gather", at_least(bar), [millions](bool quick) {
            Records records(quick ? 1000 : millions * 1'000'000);
            const auto rate = [&](auto sort) {
              return static_cast<double>(records.bytes.size()) / 1e9 / seconds_of(sort);
            };
            return in_turn(
                quick ? 1 : 3, [&] { return rate([&] { records.sort(); }); },
                [&] { return rate([&] { records.sort_plainly(); }); });
          }};
}

// Sorting entries alone, against the fastest that we know where memory is no matter: least digit first,
// of the upper half, with a copy of the entries; then insertion.
void radix_sort_plainly(std::vector<SortEntry>& entries, std::vector<SortEntry>& scratch) {
  for (unsigned shift = 32; shift < 64; shift += 8) {
    std::array<std::size_t, 257> next{};
    for (const SortEntry& entry : entries) ++next[(entry.prefix >> shift & 255U) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const SortEntry& entry : entries) scratch[next[entry.prefix >> shift & 255U]++] = entry;
    entries.swap(scratch);
  }
  for (std::size_t i = 1; i < entries.size(); ++i)
    for (std::size_t at = i; at > 0 && entries[at].prefix < entries[at - 1].prefix; --at)
      std::swap(entries[at], entries[at - 1]);
}

Measurement entries_against_a_copy(bool quick) {
  const auto prefixes = numbers(quick ? 1000 : 10'000'000);
  std::vector<SortEntry> entries(prefixes.size()), scratch(prefixes.size());
  const auto rate = [&](auto sort) {
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = {prefixes[i], i};
    return static_cast<double>(entries.size()) / 1e6 / seconds_of(sort);
  };
  return in_turn(
      quick ? 1 : 3, [&] { return rate([&] { sort_entries(std::span(entries)); }); },
      [&] { return rate([&] { radix_sort_plainly(entries, scratch); }); });
}

// Merging.

struct Cursor {
  const std::byte *next, *end;

  bool done() const { return next == end; }
  std::uint64_t prefix() const { return prefix_of(next); }
  std::span<const std::byte> record() const { return {next, record_bytes}; }
  void advance() { next += record_bytes; }
};
struct LessKey {
  bool operator()(std::span<const std::byte> a, std::span<const std::byte> b) const {
    return std::memcmp(a.data(), b.data(), key_bytes) < 0;
  }
};

std::vector<Cursor> cursors_of(std::span<const std::byte> sorted, std::size_t runs) {
  std::vector<Cursor> cursors;
  const std::size_t records = sorted.size() / record_bytes;
  for (std::size_t i = 0; i < runs; ++i)
    cursors.push_back({sorted.data() + records * i / runs * record_bytes,
                       sorted.data() + records * (i + 1) / runs * record_bytes});
  return cursors;
}
void merge(std::vector<Cursor> cursors, std::byte* out) {
  LoserTree<Cursor, LessKey> tree(std::move(cursors));
  for (; !tree.empty(); tree.advance(), out += record_bytes)
    std::memcpy(out, tree.record().data(), record_bytes);
}
void merge_by_heap(const std::vector<Cursor>& cursors, std::byte* out) {
  const auto later = [](const Cursor& a, const Cursor& b) {
    return std::memcmp(a.next, b.next, key_bytes) > 0;
  };
  std::priority_queue<Cursor, std::vector<Cursor>, decltype(later)> heap(later, cursors);
  for (; !heap.empty(); out += record_bytes) {
    Cursor cursor = heap.top();
    heap.pop();
    std::memcpy(out, cursor.next, record_bytes);
    cursor.advance();
    if (!cursor.done()) heap.push(cursor);
  }
}

Measurement merge_16_runs(bool quick) {
  constexpr std::size_t runs = 16;
  const std::size_t count = quick ? 1600 : 3'200'000;
  std::vector<std::byte> sorted;
  for (std::size_t i = 0; i < runs; ++i) {
    Records run(count / runs);
    for (std::size_t record = 0; record < run.entries.size(); ++record)  // another key in each run
      run.bytes[record * record_bytes + 1] ^= static_cast<std::byte>(i);
    run.sort();
    sorted.insert(sorted.end(), run.sorted.begin(), run.sorted.end());
  }
  std::vector<std::byte> out(sorted.size());
  const auto rate = [&](auto body) {
    return static_cast<double>(sorted.size()) / 1e9 / seconds_of(body);
  };
  return in_turn(
      turns, [&] { return rate([&] { merge(cursors_of(sorted, runs), out.data()); }); },
      [&] { return rate([&] { merge_by_heap(cursors_of(sorted, runs), out.data()); }); });
}

// Dividing into partitions, `size` bytes each, so many chunks of 16 MiB.

void divide(std::span<const std::uint64_t> keys, std::uint32_t partitions, std::size_t size) {
  PartitionBuffer buffer(partitions, PartitionBuffer::default_capacity, cpu_device().allocator());
  for (const std::uint64_t key : keys) {
    const std::uint32_t partition = partition_of(key, partitions);
    if (!buffer.fits(partition, size)) buffer.take();
    std::memcpy(buffer.append(partition, size), &key, sizeof(key));
  }
  buffer.take();
}
void divide_plainly(std::span<const std::uint64_t> keys, std::uint32_t partitions, std::size_t size) {
  std::vector<std::vector<std::byte>> vectors(partitions);
  std::size_t bytes = 0;
  const auto join = [&] {
    const BufferRef chunk = cpu_device().allocator().allocate(bytes);
    auto* out = static_cast<std::byte*>(chunk->data());
    for (auto& vector : vectors) {
      out = std::ranges::copy(vector, out).out;
      vector.clear();
    }
    bytes = 0;
  };
  for (const std::uint64_t key : keys) {
    auto& vector = vectors[partition_of(key, partitions)];
    vector.resize(vector.size() + size);
    std::memcpy(vector.data() + vector.size() - size, &key, sizeof(key));
    if ((bytes += size) >= PartitionBuffer::default_capacity) join();
  }
  join();
}

Benchmark divide_records(std::uint32_t partitions, std::size_t size, double bar) {
  return {"shuffle/partition_" + std::to_string(size) + "_bytes_by_" + std::to_string(partitions),
          "GB/s", "a vector for each partition, joined", at_least(bar), [=](bool quick) {
            const auto keys = numbers((quick ? std::size_t{100'000} : std::size_t{200'000'000}) / size);
            const auto rate = [&](auto divide_keys) {
              return static_cast<double>(keys.size() * size) / 1e9 /
                     seconds_of([&] { divide_keys(keys, partitions, size); });
            };
            return in_turn(
                turns, [&] { return rate(divide); }, [&] { return rate(divide_plainly); });
          }};
}

}  // namespace

std::vector<Benchmark> shuffle_benchmarks() {
  const std::string by_hand = "a minimal open-addressing table", by_map = "std::unordered_map";
  return {
      word_count("shuffle/word_count", by_hand, count_words_plainly, 0.8),
      word_count("shuffle/word_count_vs_unordered_map", by_map, count_words_by_unordered_map, 1.5),
      distinct_keys("shuffle/10M_distinct_keys", group_numbers, by_hand, group_numbers_plainly, 1),
      distinct_keys("shuffle/10M_distinct_keys_in_64_MiB", group_numbers_in_parts, by_hand,
                    group_numbers_plainly, 1),
      distinct_keys("shuffle/10M_distinct_keys_vs_unordered_map", group_numbers, by_map,
                    group_numbers_by_unordered_map, 3),
      sort_records(1, 1.5),
      sort_records(10, 1.5),
      {"shuffle/sort_10M_entries", "M/s", "least digit first, into a copy", at_least(0.8),
       entries_against_a_copy},
      {"shuffle/merge_16_runs", "GB/s", "std::priority_queue", at_least(1.5), merge_16_runs},
      divide_records(64, 16, 1),
      divide_records(64, 100, 1),
      divide_records(1000, 16, 1),
  };
}

}  // namespace actorflow::bench
