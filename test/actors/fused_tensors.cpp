// Several tensors as one, and cut again: what stays where it is, and what is copied.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <vector>

#include "actors/collectives/operation/fusion.h"
#include "kernels/devices/device.h"

BOOST_AUTO_TEST_SUITE(fused_tensors)

using namespace actorflow;

namespace {

Tensor counted(std::int64_t count, float first) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(first + static_cast<float>(i));
  return Tensor::of<float>({count}, values);
}

bool lies_in(const Tensor& part, const Tensor& all) {
  const auto *begin = static_cast<const std::byte*>(all.data()),
             *at = static_cast<const std::byte*>(part.data());
  return at >= begin && at < begin + all.size_bytes();
}

}  // namespace

// 40, 4,000 and 12 bytes, and 2,048, which is what stays where it is.
const std::vector<Tensor> parts{counted(10, 1), counted(1000, 100), counted(3, 5), counted(512, 7)};

BOOST_AUTO_TEST_CASE(large_ones_are_cut_off_without_a_copy) {
  const Tensor all = fused(parts, FusedLayout::aligned, cpu_device().allocator());
  std::vector<Shape> shapes;
  for (const Tensor& part : parts) shapes.push_back(part.shape());
  const auto again = cut(all, shapes);
  BOOST_TEST_REQUIRE(again.size() == parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool large = parts[i].size_bytes() >= 2048;
    BOOST_TEST(identical(again[i], parts[i]));
    BOOST_TEST(lies_in(again[i], all) == large);
    if (large) BOOST_TEST(reinterpret_cast<std::uintptr_t>(again[i].data()) % buffer_alignment == 0U);
  }
}

BOOST_AUTO_TEST_CASE(between_aligned_ones_are_zeros_and_between_packed_ones_is_nothing) {
  const Tensor aligned = fused(parts, FusedLayout::aligned, cpu_device().allocator()),
               packed = fused(parts, FusedLayout::packed, cpu_device().allocator());
  BOOST_TEST(packed.elements() == 1525);
  BOOST_TEST(packed.values<float>()[10] == 100);
  BOOST_TEST(aligned.elements() == 16 + 1000 + 3 + 5 + 512);
  for (const std::size_t gap : {10, 15, 1019, 1023}) BOOST_TEST(aligned.values<float>()[gap] == 0);
  BOOST_TEST(aligned.values<float>()[1016] == 5);
  BOOST_TEST(aligned.values<float>()[1024] == 7);
}

BOOST_AUTO_TEST_SUITE_END()
