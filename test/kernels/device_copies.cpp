// Copies between host and GPU. Skipped, visibly, without a GPU.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

#include "kernels/devices/device.h"
#include "test/support/has_gpu.h"

BOOST_AUTO_TEST_SUITE(device_copies, *boost::unit_test::precondition(actorflow::test::has_gpu))

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::int64_t kibibyte = 1 << 10, mebibyte = 1 << 20;

Allocator& pool() { return cpu_device().allocator(); }

// Bytes that differ with the seed and from place to place.
void fill(Tensor& tensor, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
  auto* to = static_cast<std::byte*>(tensor.mutable_data());
  for (std::size_t at = 0; at < tensor.size_bytes(); at += sizeof state) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    std::memcpy(to + at, &state, std::min(sizeof state, tensor.size_bytes() - at));
  }
}

Tensor filled(std::int64_t bytes, std::uint64_t seed, Allocator& allocator = pool()) {
  Tensor tensor = Tensor::allocate(DType::uint8, {bytes}, allocator);
  fill(tensor, seed);
  return tensor;
}

bool comes_back(const Tensor& there, std::uint64_t seed) {
  return identical(cuda_device(0).to_host(there), filled(there.elements(), seed, heap()));
}

// Keeps the GPU's stream busy for some milliseconds, so that copies that are launched next have to wait.
void launch_work() {
  static const Tensor large = filled(64 * mebibyte, 0);
  for (int i = 0; i < 3; ++i) cuda_device(0).to_device(large);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_size_goes_there_and_back) {
  for (Allocator* allocator : {&pool(), &heap()})
    for (const std::int64_t bytes :
         {std::int64_t{0}, std::int64_t{1}, 4 * kibibyte, 64 * kibibyte, 64 * kibibyte + 1, mebibyte + 1,
          2 * mebibyte, 5 * mebibyte, 9 * mebibyte, 64 * mebibyte + 1})
      for (std::uint64_t round = 0; round < 4; ++round) {
        const Tensor there = cuda_device(0).to_device(filled(bytes, round, *allocator));
        BOOST_TEST(comes_back(there, round), bytes << " bytes, round " << round);
      }
}

BOOST_AUTO_TEST_CASE(nobody_gets_a_tensor_s_memory_before_it_is_copied) {
  constexpr std::uint64_t copies = 12;
  for (const std::int64_t bytes : {kibibyte, 300 * kibibyte, 6 * mebibyte})
    for (int round = 0; round < 5; ++round) {
      std::vector<Tensor> there;
      launch_work();
      // Each is dropped at once, and the next one gets the same memory if it may.
      for (std::uint64_t i = 0; i < copies; ++i)
        there.push_back(cuda_device(0).to_device(filled(bytes, i)));
      for (std::uint64_t i = 0; i < copies; ++i)
        BOOST_TEST(comes_back(there[i], i), bytes << " bytes, copy " << i);
    }
}

BOOST_AUTO_TEST_CASE(a_tensor_that_is_exclusive_again_may_be_changed) {
  Tensor host = filled(6 * mebibyte, 0);
  for (std::uint64_t round = 1; round < 20; ++round) {
    launch_work();
    const Tensor there = cuda_device(0).to_device(host);
    // As kernels do that change a tensor in place.
    if (!host.exclusive()) host = Tensor::allocate(DType::uint8, {6 * mebibyte}, pool());
    fill(host, round);
    BOOST_TEST(comes_back(there, round - 1), "round " << round);
  }
  cuda_device(0).synchronize();
  BOOST_TEST(host.exclusive());
}

// As the last batch of an epoch: few rows in a block that is locked.
BOOST_AUTO_TEST_CASE(a_small_tensor_in_a_large_block) {
  for (std::uint64_t round = 0; round < 20; ++round) {
    launch_work();
    Tensor block = filled(6 * mebibyte, round);
    const Tensor whole = cuda_device(0).to_device(block);
    const Tensor some = cuda_device(0).to_device(Tensor(DType::uint8, {1000}, block.buffer()));
    block = {};
    filled(6 * mebibyte, round + 1);
    BOOST_TEST(comes_back(whole, round));
    BOOST_TEST(comes_back(some, round));
  }
}

BOOST_AUTO_TEST_CASE(a_long_row_of_copies_holds_a_limited_part_of_the_host_s_memory) {
  Tensor host = filled(64 * mebibyte, 1);
  for (int i = 0; i < 50; ++i) cuda_device(0).to_device(host);
  BOOST_TEST(comes_back(cuda_device(0).to_device(host), 1));
}

BOOST_AUTO_TEST_CASE(threads_copy_at_the_same_time) {
  std::atomic<int> wrong{0};
  const auto work = [&wrong](std::uint64_t seed) {
    constexpr std::size_t most_kept = 6;
    std::deque<std::pair<Tensor, std::uint64_t>> kept;
    for (std::uint64_t i = 0; i < 60; ++i) {
      const std::int64_t sizes[] = {1, 4 * kibibyte, 64 * kibibyte + 1, mebibyte, 5 * mebibyte};
      const std::uint64_t content = seed * 1000 + i;
      kept.emplace_back(cuda_device(0).to_device(filled(sizes[i % 5], content)), content);
      if (kept.size() <= most_kept) continue;
      if (!comes_back(kept.front().first, kept.front().second)) ++wrong;
      kept.pop_front();
    }
    for (const auto& [there, content] : kept)
      if (!comes_back(there, content)) ++wrong;
  };
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 6; ++i) threads.emplace_back(work, i);
  for (auto& thread : threads) thread.join();
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
