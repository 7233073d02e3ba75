// Machines for tests: network namespaces, each with a network device of its own, and a wire between them
// that the test may cut, slow down and make lossy. The kernel's TCP is real, only the wire is ours (a TUN
// device per machine, whose packets a thread of this process carries), so it needs no netem and no tools.
#pragma once

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace actorflow::test {

// Machines are numbered from 0. Everything is gone with the object, or with this process. Thread-safe.
class Lan {
 public:
  // What happens to each packet that a machine sends or receives.
  struct Wire {
    std::chrono::milliseconds delay{0};
    double loss = 0;  // of packets, at random
  };

  // REQUIRES: has_machines().
  explicit Lan(int machines, int mtu = 9000);
  ~Lan();

  // All machines find this one under the name from now on, as by a name server.
  void set_name(const std::string& name, int machine);
  // The same command on that machine. Its loopback device is its own, its files are ours.
  std::vector<std::string> on(int machine, std::vector<std::string> command) const;

  // Nothing passes between these machines and the others, in silence, until they are joined again.
  void cut_off(const std::vector<int>& machines);
  void join_all();
  void set_wire(int machine, Wire wire);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A precondition of cases and suites with machines: they are skipped, saying so, where the kernel or our
// rights do not allow for any.
boost::test_tools::assertion_result has_machines(boost::unit_test::test_unit_id);

}  // namespace actorflow::test
