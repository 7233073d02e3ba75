// The instruction sets that kernels may use: the only place that asks CPUID, and judges its answers.
//
// An instruction set counts only if the operating system saves its registers, too. Some virtual machines
// report instructions that they do not support: one reports AMX in leaf 7 but has no leaf 0x1D, without
// which oneDNN 2.6 sets up its tiles wrongly and dies of SIGILL.
#pragma once

#include <cstdint>

namespace actorflow {

// The raw answers of the machine; zero where there is none.
struct CpuReadings {
  std::uint32_t highest_leaf = 0;
  std::uint32_t leaf_0_ebx = 0;  // the first letters of the maker's name
  std::uint32_t leaf_1_ecx = 0;
  std::uint32_t leaf_7_ebx = 0;
  std::uint32_t leaf_7_edx = 0;
  std::uint32_t leaf_7_1_eax = 0;
  std::uint32_t tile_palettes = 0;  // leaf 0x1D
  std::uint64_t xcr0 = 0;           // the registers that the operating system saves
  bool tiles_granted = false;       // the kernel lets this process use AMX's tiles
};

struct CpuFeatures {
  bool avx2 = false;
  bool avx512 = false;     // F, BW, DQ and VL
  // AVX-512's products of bfloat16, where they are faster than those of float32: not on Intel's CPUs.
  bool fast_avx512_bf16 = false;
  bool amx = false;        // for bfloat16 and int8
  bool shows_amx = false;  // reported in leaf 7, usable or not
};

CpuFeatures features_of(const CpuReadings& readings);

// The features of this machine, read once. Requests AMX's tiles from the operating system if there are
// any. Thread-safe.
const CpuFeatures& cpu_features();

}  // namespace actorflow
