// A network of machines on one machine: network namespaces, each with a network device of its own, and
// wires between them that may be cut, slow and bad. TCP is the kernel's; only the wires are ours (a TUN
// device per machine, whose packets a thread of this process carries), so neither netem, whose kernel
// module is often missing, nor tools are needed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace actorflow {

// The treatment of packets on a wire. Probabilities are between 0 and 1.
struct Wire {
  std::chrono::milliseconds delay{0};
  double loss = 0;
  double duplication = 0;  // it comes twice
  double late = 0;         // a large one comes up to 20 ms later, so that others overtake it

  bool operator==(const Wire&) const = default;
};

// Counts of packets by what happened to them.
struct PacketCounts {
  std::uint64_t carried = 0, separated = 0, lost = 0, doubled = 0, late = 0;

  void add(const PacketCounts& other);
};

// The machines, numbered from 0. All of it disappears with the object, or with this process.
// Thread-safe.
class Lan {
 public:
  // Throws Error (failed_precondition) if why_none() is not empty.
  explicit Lan(int machines, int mtu = 9000);
  ~Lan();
  // The reason why this process cannot make machines; empty if it can.
  static std::string why_none();

  // Lets all machines find this one by the name, as with a name server.
  void set_name(const std::string& name, int machine);
  // The command line that runs a command on that machine, which has a loopback device of its own but our
  // files.
  std::vector<std::string> on(int machine, std::vector<std::string> command) const;

  // Silently drops all packets between the machines of each pair; all other pairs are connected.
  void separate(const std::vector<std::pair<int, int>>& pairs);
  // Separates each of these machines from each of the others.
  void cut_off(const std::vector<int>& machines);
  void join_all() { separate({}); }
  // Set the wire of a machine, which all its packets pass, and the common wire, which all packets pass.
  void set_wire(int machine, Wire wire);
  void set_common_wire(Wire wire);
  PacketCounts counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow
