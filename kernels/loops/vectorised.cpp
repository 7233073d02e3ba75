#include "kernels/loops/vectorised.h"

#include <algorithm>
#include <atomic>
#include <string>

#include "dataflow/values/error.h"
#include "kernels/devices/cpu_features.h"

namespace actorflow {
namespace {

std::vector<InstructionSet> detect() {
  std::vector<InstructionSet> sets{InstructionSet::baseline};
  if (cpu_features().avx2) sets.push_back(InstructionSet::avx2);
  if (cpu_features().avx512) sets.push_back(InstructionSet::avx512);
  return sets;
}

std::atomic<InstructionSet>& chosen() {
  static std::atomic<InstructionSet> set = detect().back();
  return set;
}

}  // namespace

std::string_view to_string(InstructionSet set) {
  constexpr std::string_view names[] = {"baseline", "AVX2", "AVX-512"};
  return names[static_cast<std::size_t>(set)];
}

std::vector<InstructionSet> available_instruction_sets() { return detect(); }

InstructionSet instruction_set() { return chosen().load(std::memory_order_relaxed); }

void use_instruction_set(InstructionSet set) {
  if (std::ranges::count(detect(), set) == 0)
    throw Error(Code::unimplemented, "this CPU has no " + std::string(to_string(set)));
  chosen().store(set, std::memory_order_relaxed);
}

}  // namespace actorflow
