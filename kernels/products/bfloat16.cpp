#include "kernels/products/bfloat16.h"

#include <bit>

#include "kernels/devices/cpu_features.h"
#include "kernels/devices/onednn.h"
#include "kernels/loops/vectorised.h"

namespace actorflow {
namespace {

void round_in_parts(const OpContext& c, const float* from, std::int64_t count, std::uint16_t* to) {
  constexpr std::int64_t elements_per_part = 1 << 18;
  share_out(c.team(), Shares(count, count / elements_per_part, 16),
            [&](std::int64_t first, std::int64_t last) {
              round_to_bf16(from + first, last - first, to + first);
            });
}

}  // namespace

void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to) {
  vectorised([=] {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(from[i]);
      const std::uint32_t nearest = bits + 0x7FFFU + ((bits >> 16U) & 1U);
      const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
      to[i] = static_cast<std::uint16_t>((nan ? bits | 0x400000U : nearest) >> 16U);
    }
  });
}

bool multiplies_bf16_fast() {
  static const bool fast =
      (cpu_features().amx && onednn_uses(dnnl::cpu_isa::avx512_core_amx)) ||
      (cpu_features().fast_avx512_bf16 && onednn_uses(dnnl::cpu_isa::avx512_core_bf16));
  return fast;
}

bool rounds_to_bf16(Precision precision, std::int64_t m, std::int64_t k, std::int64_t n) {
  constexpr std::int64_t products_per_factor = 12;
  constexpr std::int64_t min_inner = 32;  // what one instruction of AMX adds up
  return precision == Precision::bf16 && k >= min_inner && m * n >= products_per_factor * (m + n) &&
         multiplies_bf16_fast();
}

Factors round_to_bf16(const OpContext& c, const Factors& factors, std::int64_t count_a,
                      std::int64_t count_b, BufferRef& memory) {
  constexpr auto aligned = static_cast<std::int64_t>(buffer_alignment / sizeof(std::uint16_t));
  const std::int64_t first_b = (count_a + aligned - 1) / aligned * aligned;
  memory = c.device().allocator().allocate(static_cast<std::size_t>(first_b + count_b) *
                                           sizeof(std::uint16_t));
  auto* const a = static_cast<std::uint16_t*>(memory->data());
  round_in_parts(c, static_cast<const float*>(factors.a), count_a, a);
  round_in_parts(c, static_cast<const float*>(factors.b), count_b, a + first_b);
  return {a, a + first_b, true};
}

}  // namespace actorflow
