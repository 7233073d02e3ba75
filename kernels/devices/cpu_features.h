// What the CPU offers to kernels: the one place that asks CPUID, and says what an answer is worth.
//
// An instruction set counts only if the operating system saves its registers, too. Virtual machines show
// what they do not support: one shows AMX in leaf 7 and has no leaf 0x1D, without which oneDNN 2.6 sets
// up its tiles wrongly and dies of SIGILL.
#pragma once

#include <cstdint>

namespace actorflow {

// What the machine says; all zero where it says nothing.
struct CpuReadings {
  std::uint32_t highest_leaf = 0;
  std::uint32_t leaf_1_ecx = 0;
  std::uint32_t leaf_7_ebx = 0;
  std::uint32_t leaf_7_edx = 0;
  std::uint32_t tile_palettes = 0;  // leaf 0x1D
  std::uint64_t xcr0 = 0;           // the registers that the operating system saves
  bool tiles_granted = false;       // the kernel lets this process use AMX's tiles
};

struct CpuFeatures {
  bool avx2 = false;
  bool avx512 = false;     // F, BW, DQ and VL
  bool amx = false;        // for bfloat16 and int8
  bool shows_amx = false;  // in leaf 7, whether it can be used or not
};

CpuFeatures features_of(const CpuReadings& readings);

// Those of this machine, read once. Asks the kernel for AMX's tiles where there are any. Thread-safe.
const CpuFeatures& cpu_features();

}  // namespace actorflow
