// Keys that have much more than their share are found, to be named.
#include <boost/test/unit_test.hpp>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/jobs/sinks/sinks.h"
#include "actors/jobs/sinks/skew.h"
#include "actors/runtime/storage.h"

BOOST_AUTO_TEST_SUITE(skew)

using namespace actorflow;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::uint64_t pairs = 10'000;

void add(KeyCounts& counts, std::uint64_t key) {
  counts.add(key, std::as_bytes(std::span(&key, 1)), 10);
}

// What a part makes that divides so many pairs by their keys, of which every second one is `hot`.
PartProduct product_of(const std::string& hot) {
  const auto no = std::make_shared<const std::atomic<bool>>(false);
  StageProgress progress;
  Part part({posix_storage(), std::make_shared<ChunkStore>(posix_storage(), ChunkStoreOptions{mib, ""}),
             24 * mib, mib, no},
            0, {}, progress, no);
  part.run([&hot](Part& running) {
    HashSink<std::string, std::uint64_t> sink(running, 8);
    for (std::uint64_t i = 0; i < pairs; ++i)
      sink({i % 2 == 0 && !hot.empty() ? hot : "word" + std::to_string(i), i});
    sink.finish();
  });
  return part.take_product();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_key_with_a_quarter_of_a_sample_is_found) {
  KeyCounts counts;
  for (std::uint64_t i = 0; i < pairs; ++i) add(counts, i % 4 == 0 ? 7 : 1000 + i);
  const auto* most = counts.heaviest();
  BOOST_REQUIRE(most);
  BOOST_TEST(most->hash == 7u);
  // Too few by less than a seventeenth of all.
  BOOST_TEST(most->bytes <= 10 * pairs / 4);
  BOOST_TEST(most->bytes >= 10 * pairs / 4 - 10 * pairs / 17);
}

BOOST_AUTO_TEST_CASE(no_key_is_named_of_many_alike_or_of_a_few) {
  KeyCounts alike, few;
  for (std::uint64_t i = 0; i < pairs; ++i) add(alike, i);
  for (int i = 0; i < 60; ++i) add(few, 7);
  BOOST_TEST(!alike.heaviest());
  BOOST_TEST(!few.heaviest());
}

BOOST_AUTO_TEST_CASE(a_part_tells_its_heavy_key_with_partition_and_bytes) {
  const HeavyKey heavy = product_of("the").heavy_key;
  BOOST_TEST(heavy.key == "'the'");
  std::vector<std::byte> scratch;
  BOOST_TEST(heavy.partition == partition_of(hash_bytes(key_bytes(std::string("the"), scratch)), 8));
  constexpr std::uint64_t bytes = pairs / 2 * 12;  // a size, three letters and a number each
  BOOST_TEST(heavy.bytes > bytes / 2);
  BOOST_TEST(heavy.bytes < bytes / 8 * 9);
  BOOST_TEST(product_of("").heavy_key.key.empty());
}

BOOST_AUTO_TEST_SUITE_END()
