#include "kernels/devices/cpu_features.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace actorflow {
namespace {

// Bits of the leaves, and of XCR0 (Intel SDM, volume 1, 13.1 and 18.1; volume 2, CPUID).
constexpr std::uint32_t osxsave = 1U << 27U, avx = 1U << 28U;             // leaf 1, ecx
constexpr std::uint32_t avx2_bit = 1U << 5U;                              // leaf 7, ebx
constexpr std::uint32_t avx512_bits = 1U << 16U | 1U << 17U | 3U << 30U;  // F, DQ, BW and VL
constexpr std::uint32_t amx_tile = 1U << 24U;                             // leaf 7, edx
constexpr std::uint32_t amx_bits = amx_tile | 1U << 22U | 1U << 25U;      // with bfloat16 and int8
constexpr std::uint32_t avx512_bf16 = 1U << 5U;                           // leaf 7, subleaf 1, eax
constexpr std::uint32_t tile_leaf = 0x1D;
constexpr std::uint32_t auth = 0x68747541;  // "AuthenticAMD" begins with it
constexpr std::uint64_t vector_state = 0x6, avx512_state = vector_state | 0xE0, tile_state = 0x60000;

constexpr bool has(std::uint64_t word, std::uint64_t bits) { return (word & bits) == bits; }

#ifdef __x86_64__
struct Leaf {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// Intel's CPUs answer a leaf that they lack with another one's words.
Leaf leaf(std::uint32_t number, std::uint32_t highest, std::uint32_t part = 0) {
  Leaf words;
  if (number <= highest) __cpuid_count(number, part, words.eax, words.ebx, words.ecx, words.edx);
  return words;
}

std::uint64_t read_xcr0() {
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32U | low;
}

bool ask_for_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

CpuReadings read_cpu() {
  CpuReadings readings;
  readings.highest_leaf = __get_cpuid_max(0, nullptr);
  const std::uint32_t highest = readings.highest_leaf;
  readings.leaf_0_ebx = leaf(0, highest).ebx;
  readings.leaf_1_ecx = leaf(1, highest).ecx;
  const Leaf seven = leaf(7, highest);
  readings.leaf_7_ebx = seven.ebx;
  readings.leaf_7_edx = seven.edx;
  if (seven.eax >= 1) readings.leaf_7_1_eax = leaf(7, highest, 1).eax;
  readings.tile_palettes = leaf(tile_leaf, highest).eax;
  if (has(readings.leaf_1_ecx, osxsave)) readings.xcr0 = read_xcr0();
  readings.tiles_granted = has(readings.xcr0, tile_state) && ask_for_tiles();
  return readings;
}
#else
CpuReadings read_cpu() { return {}; }
#endif

}  // namespace

CpuFeatures features_of(const CpuReadings& r) {
  CpuFeatures features;
  const bool saves_vectors = has(r.leaf_1_ecx, osxsave | avx) && has(r.xcr0, vector_state);
  features.avx2 = saves_vectors && has(r.leaf_7_ebx, avx2_bit);
  features.avx512 = features.avx2 && has(r.leaf_7_ebx, avx512_bits) && has(r.xcr0, avx512_state);
  features.fast_avx512_bf16 =
      features.avx512 && has(r.leaf_7_1_eax, avx512_bf16) && r.leaf_0_ebx == auth;
  features.shows_amx = has(r.leaf_7_edx, amx_tile);
  features.amx = features.avx512 && has(r.leaf_7_edx, amx_bits) && has(r.xcr0, tile_state) &&
                 r.highest_leaf >= tile_leaf && r.tile_palettes > 0 && r.tiles_granted;
  return features;
}

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = features_of(read_cpu());
  return features;
}

}  // namespace actorflow
