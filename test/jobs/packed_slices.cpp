// Slices that come packed from another machine, and what damage or a hostile task makes of them.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>

#include "actors/jobs/slices/input_fetcher.h"
#include "actors/runtime/file_storage.h"
#include "schema/formats/block_compression.h"
#include "schema/records/key.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(packed_slices)

using namespace actorflow;

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;

Bytes some_text(std::size_t size) {
  Bytes bytes;
  for (std::size_t i = 0; bytes.size() < size; ++i)
    for (const char c : "word" + std::to_string(i % 50) + " ")
      bytes.push_back(static_cast<std::byte>(c));
  bytes.resize(size);
  return bytes;
}

Bytes packed(Compression kind, const Bytes& bytes) {
  Bytes block(bytes.size() / 5 * 4);
  block.resize(compress_block(kind, bytes, block));
  BOOST_REQUIRE(!block.empty());
  return block;
}

// Of two pieces.
SlicesAre answer_of(Compression kind, std::uint64_t bytes) {
  SlicesAre answer;
  answer.packed = kind;
  answer.pieces = {{0, 1, bytes / 3}, {1, 1, bytes - bytes / 3}};
  answer.parts_done = 2;
  return answer;
}

void expect_refused(const SlicesAre& answer, const Bytes& bytes, const std::string& expected) {
  const Status status = test::status_of([&] { unpacked(answer, bytes, most_bytes, "/job:a/task:1"); });
  BOOST_TEST((status.code == Code::unavailable), status.to_string());
  BOOST_TEST(status.message.find("slices of /job:a/task:1") == 0u, status.message);
  BOOST_TEST(status.message.find(expected) != status.message.npos, status.message);
}

constexpr const char* do_not_become = "that came do not become them";
constexpr const char* too_many = "announced with more than 1048576 bytes";

// Asks this task itself, which nobody answers.
struct Fetching {
  Fetching() {
    kept->add(1, records);
    BOOST_TEST(!fetcher.want(set, std::vector<std::int32_t>{0, 0}));
  }
  std::vector<InputFetcher::Arrival> take(SlicesAre answer, const Bytes& bytes) {
    answer.request = 1;
    return fetcher.take(answer, bytes);
  }

  const SliceSet set{1, false, 0};
  const std::shared_ptr<KeptRecords> records = std::make_shared<KeptRecords>(1, 2, 1);
  const std::shared_ptr<KeptStages> kept = std::make_shared<KeptStages>();
  const JobTools tools{
      posix_storage(),
      std::make_shared<ChunkStore>(posix_storage(), ChunkStoreOptions{most_bytes, "", 0}), most_bytes,
      most_bytes, nullptr};
  InputFetcher fetcher{std::make_shared<JobMail>(nullptr), kept, tools};
};

}  // namespace

BOOST_AUTO_TEST_CASE(packed_slices_come_back) {
  for (const auto kind : {Compression::lz4, Compression::zstd}) {
    const Bytes text = some_text(100'000);
    const Bytes block = packed(kind, text);
    BOOST_TEST((unpacked(answer_of(kind, text.size()), block, text.size(), "") == text));
    Fetching fetching;
    SlicesAre answer = answer_of(kind, text.size());
    answer.checksum = hash_bytes(text);
    const auto arrivals = fetching.take(answer, block);
    BOOST_REQUIRE(arrivals.size() == 1u);
    BOOST_TEST(arrivals[0].status.ok(), arrivals[0].status.to_string());
    const auto slices = fetching.records->slices(1, 0);
    BOOST_TEST(std::ranges::equal((*slices.chunks)[0]->slice(0), std::span(text).subspan(33'333)));
  }
}

BOOST_AUTO_TEST_CASE(lengths_that_lie_are_refused) {
  for (const auto kind : {Compression::lz4, Compression::zstd}) {
    const Bytes text = some_text(100'000);
    const Bytes block = packed(kind, text);
    for (const std::uint64_t lie : {0, 1, 99'999, 100'001, 1'000'000})
      expect_refused(answer_of(kind, lie), block, do_not_become);
    expect_refused(answer_of(kind, most_bytes + 1), block, too_many);
    SlicesAre overflowing = answer_of(kind, text.size());
    overflowing.pieces.push_back({1, 1, ~std::uint64_t{0} - text.size() + 1});
    expect_refused(overflowing, block, too_many);
  }
}

BOOST_AUTO_TEST_CASE(blocks_that_were_cut_off_are_refused) {
  for (const auto kind : {Compression::lz4, Compression::zstd}) {
    const Bytes text = some_text(2'000);
    const Bytes block = packed(kind, text);
    for (std::size_t size = 0; size < block.size(); ++size)
      expect_refused(answer_of(kind, text.size()),
                     {block.begin(), block.begin() + static_cast<std::ptrdiff_t>(size)}, do_not_become);
    Bytes longer = block;
    longer.push_back(std::byte{7});
    expect_refused(answer_of(kind, text.size()), longer, do_not_become);
  }
}

// What is no block, or one of another kind, or of none.
BOOST_AUTO_TEST_CASE(garbage_is_refused) {
  std::mt19937 random(1);
  for (const auto kind : {Compression::lz4, Compression::zstd})
    for (int i = 0; i < 200; ++i) {
      Bytes garbage(1 + random() % 500);
      for (auto& byte : garbage) byte = static_cast<std::byte>(random());
      expect_refused(answer_of(kind, 50'000), garbage, do_not_become);
    }
  const Bytes text = some_text(10'000);
  expect_refused(answer_of(Compression::zstd, 10'000), packed(Compression::lz4, text), do_not_become);
  expect_refused(answer_of(Compression::lz4, 10'000), packed(Compression::zstd, text), do_not_become);
  for (const auto kind : {Compression::gzip, static_cast<Compression>(77)})
    expect_refused(answer_of(kind, 10'000), packed(Compression::lz4, text), "of an unknown kind");
}

// A changed bit may give other bytes: the checksum is of what was packed.
BOOST_AUTO_TEST_CASE(flipped_bits_fail_the_fetch) {
  for (const auto kind : {Compression::lz4, Compression::zstd}) {
    const Bytes text = some_text(2'000);
    const Bytes block = packed(kind, text);
    for (std::size_t bit = 0; bit < block.size() * 8; ++bit) {
      Bytes damaged = block;
      damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      Fetching fetching;
      SlicesAre answer = answer_of(kind, text.size());
      answer.checksum = hash_bytes(text);
      const auto arrivals = fetching.take(answer, damaged);
      BOOST_REQUIRE(arrivals.size() == 1u);
      if (arrivals[0].status.ok()) {  // a bit that says nothing
        const auto first = fetching.records->slices(0, 0);
        BOOST_TEST(std::ranges::equal((*first.chunks)[0]->slice(0), std::span(text).first(666)));
        continue;
      }
      BOOST_TEST((arrivals[0].status.code == Code::unavailable));
      BOOST_TEST(arrivals[0].status.message.find("have changed on their way") != std::string::npos);
      BOOST_TEST(!arrivals[0].missing.has_value());
    }
  }
}

// A small block that becomes, or says that it becomes, far more than was asked for.
BOOST_AUTO_TEST_CASE(bombs_take_no_memory) {
  const Bytes zeros(8 << 20);
  for (const auto kind : {Compression::lz4, Compression::zstd}) {
    const Bytes bomb = packed(kind, zeros);
    BOOST_TEST(bomb.size() < 100'000u);
    expect_refused(answer_of(kind, zeros.size()), bomb, too_many);
    expect_refused(answer_of(kind, most_bytes), bomb, do_not_become);
    expect_refused(answer_of(kind, most_bytes), Bytes(10), do_not_become);
    constexpr std::uint64_t huge = std::uint64_t{1} << 60;
    const Status status =
        test::status_of([&] { unpacked(answer_of(kind, huge), bomb, ~std::uint64_t{0}, "a task"); });
    BOOST_TEST(status.message.find(do_not_become) != status.message.npos, status.message);
    Fetching fetching;
    const auto arrivals = fetching.take(answer_of(kind, std::uint64_t{1} << 40), bomb);
    BOOST_REQUIRE(arrivals.size() == 1u);
    BOOST_TEST((arrivals[0].status.code == Code::unavailable), arrivals[0].status.to_string());
  }
}

BOOST_AUTO_TEST_SUITE_END()
