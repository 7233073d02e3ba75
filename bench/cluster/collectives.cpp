// All-reduce among processes of this machine, by the program that users have: against gloo and MPI, and
// against what the memory allows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <thread>

#include "bench/frameworks/frameworks.h"
#include "bench/harness.h"
#include "bench/program.h"
#include "kernels/devices/device.h"

namespace actorflow::bench {
namespace {

struct Sizes {
  int ranks = 2;
  std::int64_t bytes = 0;  // of a tensor
  int tensors = 1;
  bool spins = true;  // whether ranks look for small tensors for a moment before they sleep
};

// About a second's.
int rounds_of(const Sizes& sizes, bool quick) {
  const std::int64_t bytes = sizes.bytes * sizes.tensors;
  return quick ? 2
               : static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 29) / bytes, 5, 2000));
}

// Milliseconds of a round, as rank 0 prints them.
double milliseconds(const Sizes& sizes, int rounds) {
  const auto addresses = free_addresses(sizes.ranks);
  const auto arguments = [&](int rank) {
    return std::vector<std::string>{"--hosts",   fmt::format("{}", fmt::join(addresses, ",")),
                                    "--rank",    std::to_string(rank),
                                    "--bytes",   std::to_string(sizes.bytes),
                                    "--tensors", std::to_string(sizes.tensors),
                                    "--rounds",  std::to_string(rounds),
                                    "--spin_us", std::to_string(sizes.spins ? 50 : 0)};
  };
  std::vector<std::unique_ptr<Program>> others;
  for (int rank = 1; rank < sizes.ranks; ++rank)
    others.push_back(std::make_unique<Program>("all_reduce", arguments(rank)));
  const std::string said =
      output_of(fmt::format("{} {}", path_of_program("all_reduce"), fmt::join(arguments(0), " ")));
  const auto figure = said.find("bytes in ");
  if (figure == std::string::npos) throw std::runtime_error("all_reduce prints no time: " + said);
  return std::stod(said.substr(figure + std::strlen("bytes in ")));
}

// MPI's ranks wait without sleeping; where there are more than cores they yield meanwhile.
double mpi_milliseconds(const Sizes& sizes, int rounds) {
  const std::string program = path_of_program("mpi_all_reduce");
  if (!std::filesystem::exists(program))
    throw Skipped("no MPI was there when this was built (apt-get install libopenmpi-dev openmpi-bin)");
  return std::stod(output_of(fmt::format("mpirun --allow-run-as-root --oversubscribe -np {} {} {} {}",
                                         sizes.ranks, program, sizes.bytes, rounds)));
}

// Each of two threads reads what both have and writes what it keeps, half of the sums each: the least
// that two ranks can do, if nothing is sent.
double milliseconds_of_memory(std::int64_t bytes, int rounds) {
  const auto size = static_cast<std::size_t>(bytes);
  std::vector<BufferRef> buffers;
  for (int i = 0; i < 4; ++i) {
    buffers.push_back(cpu_device().allocator().allocate(size));
    std::memset(buffers.back()->data(), i, size);
  }
  const auto copy_all = [&](int thread) {
    const auto at = static_cast<std::size_t>(2 * thread);
    for (int round = 0; round < rounds; ++round)
      std::memcpy(buffers[at + 1]->data(), buffers[at]->data(), size);
  };
  return 1e3 / rounds * seconds_of([&] {
           std::jthread other([&] { copy_all(1); });
           copy_all(0);
         });
}

// With what nccl-tests call bus bandwidth: the bytes that each rank sends by the best algorithm.
Measurement with_bandwidth(const Sizes& sizes, Measurement measured) {
  const double gigabytes = 2e-9 * static_cast<double>(sizes.bytes) * (sizes.ranks - 1) / sizes.ranks;
  measured.note = fmt::format("bus {:.3g} and {:.3g} GB/s", 1e3 * gigabytes / measured.ours,
                              1e3 * gigabytes / measured.baseline);
  return measured;
}

Benchmark against_gloo(const std::string& name, const Sizes& sizes, double bar) {
  return {fmt::format("collectives/all_reduce_{}_{}_ranks", name, sizes.ranks), "ms", "gloo, by PyTorch",
          at_most(bar), [sizes](bool quick) {
            const int rounds = rounds_of(sizes, quick);
            return with_bandwidth(
                sizes, in_turn(
                           quick ? 1 : 3, [&] { return milliseconds(sizes, rounds); },
                           [&] { return gloo_milliseconds(sizes.ranks, sizes.bytes, rounds); }));
          }};
}

Benchmark against_mpi(const std::string& name, const Sizes& sizes, double bar) {
  return {fmt::format("collectives/all_reduce_{}_{}_ranks_mpi", name, sizes.ranks), "ms", "MPI",
          at_most(bar), [sizes](bool quick) {
            const int rounds = rounds_of(sizes, quick);
            return with_bandwidth(sizes, in_turn(
                                             quick ? 1 : 3, [&] { return milliseconds(sizes, rounds); },
                                             [&] { return mpi_milliseconds(sizes, rounds); }));
          }};
}

Measurement against_memory(bool quick) {
  const Sizes sizes{.ranks = 2, .bytes = 16 << 20};
  const int rounds = rounds_of(sizes, quick);
  return in_turn(
      quick ? 1 : 3, [&] { return milliseconds(sizes, rounds); },
      [&] { return milliseconds_of_memory(sizes.bytes, rounds); });
}

Measurement many_against_one(bool quick) {
  const Sizes many{.bytes = 4000, .tensors = quick ? 10 : 1000};
  const Sizes one{.bytes = many.bytes * many.tensors};
  return in_turn(
      quick ? 1 : 3, [&] { return milliseconds(many, rounds_of(many, quick)); },
      [&] { return milliseconds(one, rounds_of(one, quick)); });
}

constexpr std::int64_t kib = 1 << 10, mib = 1 << 20;

}  // namespace

std::vector<Benchmark> collective_benchmarks() {
  return {
      {"collectives/all_reduce_16_MiB_of_memory", "ms", "a copy of it by each of two threads",
       at_most(1.25), against_memory},
      {"collectives/1000_tensors_of_4_KB", "ms", "one tensor of 4 MB", at_most(2), many_against_one},
      against_gloo("8_B_without_spinning", {.bytes = 8, .spins = false}, 0.3),
      against_gloo("4_KiB_without_spinning", {.bytes = 4 * kib, .spins = false}, 0.3),
      against_gloo("256_KiB", {.ranks = 2, .bytes = 256 * kib}, 0.77),
      against_gloo("16_MiB", {.ranks = 2, .bytes = 16 * mib}, 0.77),
      against_gloo("128_MiB", {.ranks = 2, .bytes = 128 * mib}, 0.77),
      against_gloo("8_B_without_spinning", {.ranks = 4, .bytes = 8, .spins = false}, 0.3),
      against_gloo("4_KiB_without_spinning", {.ranks = 4, .bytes = 4 * kib, .spins = false}, 0.3),
      against_gloo("256_KiB", {.ranks = 4, .bytes = 256 * kib}, 0.77),
      against_gloo("16_MiB", {.ranks = 4, .bytes = 16 * mib}, 0.77),
      against_gloo("128_MiB", {.ranks = 4, .bytes = 128 * mib}, 0.77),
      against_mpi("8_B", {.bytes = 8}, 3),
      against_mpi("4_KiB", {.bytes = 4 * kib}, 3),
      against_mpi("256_KiB", {.bytes = 256 * kib}, 0.77),
      against_mpi("16_MiB", {.bytes = 16 * mib}, 0.77),
      against_mpi("128_MiB", {.bytes = 128 * mib}, 0.77),
      against_mpi("8_B", {.ranks = 4, .bytes = 8}, 3),
      against_mpi("4_KiB", {.ranks = 4, .bytes = 4 * kib}, 3),
      against_mpi("256_KiB", {.ranks = 4, .bytes = 256 * kib}, 0.77),
      against_mpi("16_MiB", {.ranks = 4, .bytes = 16 * mib}, 0.77),
      against_mpi("128_MiB", {.ranks = 4, .bytes = 128 * mib}, 0.77),
  };
}

}  // namespace actorflow::bench
