// Machines on one: network namespaces, each with a network device of its own, and wires between them
// that may be cut, slow and bad. The kernel's TCP is real, only the wires are ours (a TUN device per
// machine, whose packets a thread of this process carries), so it needs neither netem, whose kernel
// module is often missing, nor tools.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace actorflow {

// What happens to each packet on its way. Chances are between 0 and 1.
struct Wire {
  std::chrono::milliseconds delay{0};
  double loss = 0;
  double duplication = 0;  // it comes twice
  double late = 0;         // a large one comes up to 20 ms later, so that others overtake it

  bool operator==(const Wire&) const = default;
};

// What has happened to packets.
struct PacketCounts {
  std::uint64_t carried = 0, separated = 0, lost = 0, doubled = 0, late = 0;

  void add(const PacketCounts& other);
};

// Machines are numbered from 0. Everything is gone with the object, or with this process. Thread-safe.
class Lan {
 public:
  // Throws Error (unavailable) where why_none() is not empty.
  explicit Lan(int machines, int mtu = 9000);
  ~Lan();
  // Empty, or why this process cannot make any machines.
  static std::string why_none();

  // All machines find this one under the name from now on, as by a name server.
  void set_name(const std::string& name, int machine);
  // The same command on that machine. Its loopback device is its own, its files are ours.
  std::vector<std::string> on(int machine, std::vector<std::string> command) const;

  // Nothing passes between the two of such a pair, in silence; all others are joined.
  void separate(const std::vector<std::pair<int, int>>& pairs);
  // The same for each of these machines and each of the others.
  void cut_off(const std::vector<int>& machines);
  void join_all() { separate({}); }
  // What a machine sends or receives passes its wire; all packets pass the common one, too.
  void set_wire(int machine, Wire wire);
  void set_common_wire(Wire wire);
  PacketCounts counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow
