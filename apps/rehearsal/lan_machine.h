// A machine on this one: a network namespace with one device, whose packets this process carries.
#pragma once

#include <cstdint>

namespace actorflow {

class LanMachine {
 public:
  // Its addresses are in 10.77.0.0/16. Throws Error (failed_precondition) that names the missing right
  // or system feature.
  LanMachine(std::uint32_t ip, int mtu);
  LanMachine(LanMachine&& other) noexcept;
  LanMachine(const LanMachine&) = delete;
  ~LanMachine();

  // Descriptors of the namespace, and of this end of the device: whole IP packets, without blocking.
  int name_space() const { return name_space_; }
  int tun() const { return tun_; }

 private:
  void close_all();

  int name_space_ = -1;
  int tun_ = -1;
};

}  // namespace actorflow
