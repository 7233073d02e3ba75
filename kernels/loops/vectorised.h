// Loops compiled for several instruction sets; the best one of the running CPU is chosen.
//
// One loop, written plainly, becomes three: for every x86-64, for AVX2 and for AVX-512. The program runs
// on all of them, and gives the same bits: no multiply-add is fused (see CMakeLists.txt), nothing is
// reassociated, and a loop that combines elements fixes their order itself, in lanes of its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace actorflow {

enum class InstructionSet : std::uint8_t { baseline, avx2, avx512 };

std::string_view to_string(InstructionSet set);
// The instruction sets of this CPU and its operating system, the baseline first.
std::vector<InstructionSet> available_instruction_sets();
// The instruction set that loops use: the last of the available ones, unless another was chosen.
// Thread-safe.
InstructionSet instruction_set();
// Chooses the instruction set of the whole process, for tests and measurements. Throws unimplemented if
// the CPU lacks it. Thread-safe.
void use_instruction_set(InstructionSet set);

namespace detail {

// `flatten` inlines everything that the body calls, so that it is compiled for this instruction set too.
// The optimisations are named here since a library may be compiled with others: -O2 alone vectorises no
// loop of unknown length.
#define ACTORFLOW_VECTORISED \
  gnu::flatten, gnu::optimize("O3", "fp-contract=off")

template <class Body>
[[ACTORFLOW_VECTORISED]] void run_baseline(Body body) {
  body();
}

#ifdef __x86_64__
template <class Body>
[[ACTORFLOW_VECTORISED, gnu::target("avx2")]] void run_avx2(Body body) {
  body();
}

template <class Body>
[[ACTORFLOW_VECTORISED, gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")]] void
run_avx512(Body body) {
  body();
}
#endif

#undef ACTORFLOW_VECTORISED

}  // namespace detail

// Calls body(), which does not throw and whose definition the compiler sees with all that it calls. A
// body that captures by value vectorises best: the compiler then knows that no store changes a capture.
template <class Body>
void vectorised(Body body) {
#ifdef __x86_64__
  const InstructionSet set = instruction_set();
  if (set == InstructionSet::avx512) return detail::run_avx512(body);
  if (set == InstructionSet::avx2) return detail::run_avx2(body);
#endif
  detail::run_baseline(body);
}

}  // namespace actorflow
