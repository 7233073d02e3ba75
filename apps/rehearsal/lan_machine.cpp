#include "apps/rehearsal/lan_machine.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::uint32_t netmask = 0xFFFF'0000;

int checked(int result, const char* what) {
  if (result < 0)
    throw Error(Code::failed_precondition, fmt::format("{}: {}", what, std::strerror(errno)));
  return result;
}

void set_address(ifreq& request, std::uint32_t ip) {
  auto& address = reinterpret_cast<sockaddr_in&>(request.ifr_addr);
  address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(ip);
}

void bring_up(int control, ifreq request) {
  checked(ioctl(control, SIOCGIFFLAGS, &request), "SIOCGIFFLAGS");
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
  checked(ioctl(control, SIOCSIFFLAGS, &request), "SIOCSIFFLAGS");
}

// On a thread of its own, which enters the namespace that it makes.
void make(int& name_space, int& tun, std::uint32_t ip, int mtu) {
  checked(unshare(CLONE_NEWNET), "a network namespace");
  name_space = checked(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), "/proc");
  tun = checked(open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK), "/dev/net/tun");
  ifreq request{};
  std::strcpy(request.ifr_name, "lan0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  checked(ioctl(tun, TUNSETIFF, &request), "TUNSETIFF");
  const int control = checked(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");
  set_address(request, ip);
  checked(ioctl(control, SIOCSIFADDR, &request), "SIOCSIFADDR");
  set_address(request, netmask);
  checked(ioctl(control, SIOCSIFNETMASK, &request), "SIOCSIFNETMASK");
  request.ifr_mtu = mtu;
  checked(ioctl(control, SIOCSIFMTU, &request), "SIOCSIFMTU");
  bring_up(control, request);
  ifreq loopback{};
  std::strcpy(loopback.ifr_name, "lo");
  bring_up(control, loopback);
  close(control);
}

}  // namespace

LanMachine::LanMachine(std::uint32_t ip, int mtu) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      make(name_space_, tun_, ip, mtu);
    } catch (const Error&) {
      failure = std::current_exception();
    }
  }).join();
  if (!failure) return;
  close_all();
  std::rethrow_exception(failure);
}

LanMachine::LanMachine(LanMachine&& other) noexcept
    : name_space_(std::exchange(other.name_space_, -1)), tun_(std::exchange(other.tun_, -1)) {}

LanMachine::~LanMachine() { close_all(); }

void LanMachine::close_all() {
  if (tun_ >= 0) close(tun_);
  if (name_space_ >= 0) close(name_space_);
}

}  // namespace actorflow
