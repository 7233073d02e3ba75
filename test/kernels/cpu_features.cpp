// Which instruction sets a machine really has, from what it says.
#include "kernels/devices/cpu_features.h"

#include <boost/test/unit_test.hpp>

#include "kernels/devices/onednn.h"
#include "kernels/loops/vectorised.h"
#include "kernels/products/bfloat16.h"

BOOST_AUTO_TEST_SUITE(cpu_features)

using namespace actorflow;

namespace {

// A machine with everything: a Xeon of the fourth generation under Linux.
CpuReadings sapphire_rapids() {
  return {.highest_leaf = 0x20,
          .leaf_1_ecx = 0x7FFEFBFF,
          .leaf_7_ebx = 0xF3BFBFEB,
          .leaf_7_edx = 0xFFDD4432,
          .tile_palettes = 1,
          .xcr0 = 0x602E7,
          .tiles_granted = true};
}

// An EPYC of the fifth generation.
CpuReadings turin() {
  return {.highest_leaf = 0x10,
          .leaf_0_ebx = 0x68747541,
          .leaf_1_ecx = 0x7FFEFBFF,
          .leaf_7_ebx = 0xF1BF97AB,
          .leaf_7_1_eax = 0x30,
          .xcr0 = 0x2E7};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_machine_with_everything_has_everything) {
  const CpuFeatures features = features_of(sapphire_rapids());
  BOOST_TEST((features.avx2 && features.avx512 && features.amx && features.shows_amx));
}

BOOST_AUTO_TEST_CASE(amx_without_the_leaf_of_its_tiles_does_not_count) {
  CpuReadings virtual_machine = sapphire_rapids();
  virtual_machine.highest_leaf = 0x1C;
  // Whatever words stand in its place.
  for (const std::uint32_t words : {0U, 1U}) {
    virtual_machine.tile_palettes = words;
    const CpuFeatures features = features_of(virtual_machine);
    BOOST_TEST((features.shows_amx && !features.amx && features.avx512));
  }
}

BOOST_AUTO_TEST_CASE(amx_without_a_palette_does_not_count) {
  CpuReadings readings = sapphire_rapids();
  readings.tile_palettes = 0;
  BOOST_TEST(!features_of(readings).amx);
}

BOOST_AUTO_TEST_CASE(amx_without_the_operating_system_does_not_count) {
  CpuReadings no_tiles = sapphire_rapids();
  no_tiles.xcr0 = 0xE7;
  BOOST_TEST((!features_of(no_tiles).amx && features_of(no_tiles).avx512));
  CpuReadings only_configuration = sapphire_rapids();
  only_configuration.xcr0 = 0x202E7;
  BOOST_TEST(!features_of(only_configuration).amx);
  CpuReadings refused = sapphire_rapids();
  refused.tiles_granted = false;
  BOOST_TEST(!features_of(refused).amx);
}

BOOST_AUTO_TEST_CASE(amx_without_bfloat16_does_not_count) {
  CpuReadings readings = sapphire_rapids();
  readings.leaf_7_edx &= ~(1U << 22U);
  BOOST_TEST(!features_of(readings).amx);
}

BOOST_AUTO_TEST_CASE(bfloat16_of_avx512_is_fast_on_amds_cpus_only) {
  BOOST_TEST((features_of(turin()).avx512 && features_of(turin()).fast_avx512_bf16));
  CpuReadings intel = turin();
  intel.leaf_0_ebx = 0x756E6547;
  BOOST_TEST(!features_of(intel).fast_avx512_bf16);
  CpuReadings older = turin();
  older.leaf_7_1_eax = 0;
  BOOST_TEST(!features_of(older).fast_avx512_bf16);
  CpuReadings hidden = turin();
  hidden.xcr0 = 0x7;
  BOOST_TEST(!features_of(hidden).fast_avx512_bf16);
}

BOOST_AUTO_TEST_CASE(vectors_that_the_operating_system_does_not_save_do_not_count) {
  CpuReadings only_avx = sapphire_rapids();
  only_avx.xcr0 = 0x7;
  BOOST_TEST(
      (features_of(only_avx).avx2 && !features_of(only_avx).avx512 && !features_of(only_avx).amx));
  CpuReadings none = sapphire_rapids();
  none.xcr0 = 0x1;
  BOOST_TEST((!features_of(none).avx2 && !features_of(none).avx512 && !features_of(none).amx));
  CpuReadings no_xsave = sapphire_rapids();
  no_xsave.leaf_1_ecx &= ~(1U << 27U);
  BOOST_TEST(!features_of(no_xsave).avx2);
}

BOOST_AUTO_TEST_CASE(a_part_of_avx512_does_not_count) {
  for (const unsigned bit : {16U, 17U, 30U, 31U}) {
    CpuReadings readings = sapphire_rapids();
    readings.leaf_7_ebx &= ~(1U << bit);
    BOOST_TEST((!features_of(readings).avx512 && features_of(readings).avx2), "without bit " << bit);
  }
}

BOOST_AUTO_TEST_CASE(a_machine_that_says_nothing_has_nothing) {
  const CpuFeatures features = features_of({});
  BOOST_TEST((!features.avx2 && !features.avx512 && !features.amx && !features.shows_amx));
}

BOOST_AUTO_TEST_CASE(this_machine_is_used_for_what_it_has) {
  const CpuFeatures& features = actorflow::cpu_features();
  BOOST_TEST_MESSAGE("AVX2 " << features.avx2 << ", AVX-512 " << features.avx512 << ", AMX "
                             << features.amx << " (shown: " << features.shows_amx << ")");
#ifdef __x86_64__
  BOOST_TEST(features.avx2 == bool(__builtin_cpu_supports("avx2")));
  BOOST_TEST(features.avx512 ==
             (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")));
#endif
  BOOST_TEST(available_instruction_sets().size() == 1U + features.avx2 + features.avx512);
  if (!features.amx) BOOST_TEST(!onednn_uses(dnnl::cpu_isa::avx512_core_amx));
  if (!features.amx && !features.fast_avx512_bf16) BOOST_TEST(!multiplies_bf16_fast());
}

BOOST_AUTO_TEST_SUITE_END()
