// A file that grows by synced entries, such as the journal of a job, on a disk that loses its power.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "actors/checkpoint/start_number.h"
#include "actors/simulation/seeds.h"
#include "actors/simulation/sim_storage.h"

namespace actorflow::test {

// A source of random numbers that are no chance.
class CountingRandom final : public Random {
 public:
  std::uint64_t next() override { return next_++; }

 private:
  std::uint64_t next_ = 1;
};

// Throws unless all that was appended and synced is there after a loss of power.
inline void append_through_a_loss_of_power() {
  const std::uint64_t seed = of_this_seed({}).seed;
  World world(seed, std::make_unique<RandomSchedule>(seed), false);
  SimStorage disk(world);
  CountingRandom random;
  const std::string log = "begin\n";
  disk.write_atomically("work/log", std::as_bytes(std::span(log)));
  const std::string entry = "an entry\n";
  disk.append_synced("work/log", std::as_bytes(std::span(entry)));
  const auto starts = take_start_number(disk, "run", {"ps", 0}, random);
  disk.files().lose_power();
  const auto bytes = disk.read("work/log");
  if (std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) != log + entry)
    throw std::runtime_error("an entry that was synced is not there");
  if (take_start_number(disk, "run", {"ps", 0}, random) != starts + 1)
    throw std::runtime_error("a process has the number of an earlier one");
}

}  // namespace actorflow::test
