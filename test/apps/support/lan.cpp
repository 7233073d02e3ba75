#include "test/apps/support/lan.h"

#include "test/apps/support/folder.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

namespace actorflow::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t network = 0x0A4D'0000;  // 10.77.0.0/24
constexpr std::uint32_t netmask = 0xFFFF'FF00;
constexpr std::size_t max_packet_bytes = 65'536;

std::uint32_t ip_of(int machine) { return network + static_cast<std::uint32_t>(machine) + 1; }

int checked(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
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

// A network namespace, and this end of its one device.
struct Machine {
  int name_space = -1;
  int tun = -1;
};

// On a thread of its own, which enters the namespace that it makes.
void make(Machine& machine, std::uint32_t ip, int mtu) {
  checked(unshare(CLONE_NEWNET), "a network namespace");
  machine.name_space = checked(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), "/proc");
  machine.tun = checked(open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK), "/dev/net/tun");
  ifreq request{};
  std::strcpy(request.ifr_name, "lan0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  checked(ioctl(machine.tun, TUNSETIFF, &request), "TUNSETIFF");
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

// Empty, or why there cannot be any machine.
std::string make_machine(Machine& machine, std::uint32_t ip, int mtu) {
  std::string why;
  std::thread([&] {
    try {
      make(machine, ip, mtu);
    } catch (const std::exception& error) {
      why = error.what();
    }
  }).join();
  return why;
}

void close_machine(const Machine& machine) {
  if (machine.tun >= 0) close(machine.tun);
  if (machine.name_space >= 0) close(machine.name_space);
}

}  // namespace

struct Lan::Impl {
  ~Impl() {
    if (carrier.joinable()) {
      eventfd_write(ending, 1);
      carrier.join();
    }
    for (const auto& machine : machines) close_machine(machine);
    close(ending);
  }

  void carry();
  void take_packets(std::size_t from);
  void deliver_due();
  int wait_ms() const;

  struct Packet {
    std::size_t to;
    std::vector<char> bytes;
  };
  std::vector<Machine> machines;
  const int ending = eventfd(0, EFD_CLOEXEC);
  std::multimap<Clock::time_point, Packet> on_the_way;  // the carrier's, as is the randomness
  std::minstd_rand random{1};
  std::mutex mutex;  // guards the rest
  std::vector<Wire> wires;
  std::vector<bool> is_cut_off;
  std::map<std::string, int> names;
  const Folder folder;
  const std::string hosts_file = folder.file("hosts");
  std::thread carrier;
};

Lan::Lan(int machines, int mtu) : impl_(std::make_unique<Impl>()) {
  impl_->machines.resize(static_cast<std::size_t>(machines));
  impl_->wires.resize(impl_->machines.size());
  impl_->is_cut_off.resize(impl_->machines.size());
  for (int i = 0; i < machines; ++i)
    if (const auto why = make_machine(impl_->machines[static_cast<std::size_t>(i)], ip_of(i), mtu);
        !why.empty())
      throw std::runtime_error("cannot make a machine: " + why);
  write_file(impl_->hosts_file, "127.0.0.1 localhost\n");
  impl_->carrier = std::thread([this] { impl_->carry(); });
}

Lan::~Lan() = default;

// In place: the machines have mounted this file.
void Lan::set_name(const std::string& name, int machine) {
  const std::lock_guard lock(impl_->mutex);
  impl_->names[name] = machine;
  std::string hosts = "127.0.0.1 localhost\n";
  for (const auto& [known, number] : impl_->names)
    hosts += "10.77.0." + std::to_string(number + 1) + " " + known + "\n";
  write_file(impl_->hosts_file, hosts);
}

std::vector<std::string> Lan::on(int machine, std::vector<std::string> command) const {
  const int name_space = impl_->machines.at(static_cast<std::size_t>(machine)).name_space;
  command.insert(command.begin(),
                 {"/usr/bin/nsenter",
                  "--net=/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(name_space),
                  "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                  "mount --bind " + impl_->hosts_file + " /etc/hosts && exec \"$0\" \"$@\""});
  return command;
}

void Lan::cut_off(const std::vector<int>& machines) {
  const std::lock_guard lock(impl_->mutex);
  for (const int machine : machines) impl_->is_cut_off.at(static_cast<std::size_t>(machine)) = true;
}

void Lan::join_all() {
  const std::lock_guard lock(impl_->mutex);
  impl_->is_cut_off.assign(impl_->is_cut_off.size(), false);
}

void Lan::set_wire(int machine, Wire wire) {
  const std::lock_guard lock(impl_->mutex);
  impl_->wires.at(static_cast<std::size_t>(machine)) = wire;
}

void Lan::Impl::carry() {
  std::vector<pollfd> sources{{ending, POLLIN, 0}};
  for (const auto& machine : machines) sources.push_back({machine.tun, POLLIN, 0});
  while (poll(sources.data(), sources.size(), wait_ms()) >= 0 && sources[0].revents == 0) {
    for (std::size_t i = 0; i < machines.size(); ++i)
      if (sources[i + 1].revents != 0) take_packets(i);
    deliver_due();
  }
}

int Lan::Impl::wait_ms() const {
  if (on_the_way.empty()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(on_the_way.begin()->first - Clock::now());
  return std::max(0, static_cast<int>(left.count()));
}

void Lan::Impl::take_packets(std::size_t from) {
  static thread_local std::vector<char> buffer(max_packet_bytes);
  constexpr int at_once = 64;
  for (int i = 0; i < at_once; ++i) {
    const auto size = read(machines[from].tun, buffer.data(), buffer.size());
    if (size < 20 || (buffer[0] & 0xF0) != 0x40) {  // not IPv4
      if (size < 0) return;
      continue;
    }
    std::uint32_t destination = 0;
    std::memcpy(&destination, buffer.data() + 16, sizeof destination);
    const std::size_t to = ntohl(destination) - ip_of(0);
    const std::lock_guard lock(mutex);
    if (to >= machines.size() || is_cut_off[from] != is_cut_off[to]) continue;
    std::uniform_real_distribution<double> chance(0, 1);
    if (chance(random) < wires[from].loss || chance(random) < wires[to].loss) continue;
    on_the_way.emplace(Clock::now() + wires[from].delay + wires[to].delay,
                       Packet{to, {buffer.data(), buffer.data() + size}});
  }
}

void Lan::Impl::deliver_due() {
  while (!on_the_way.empty() && on_the_way.begin()->first <= Clock::now()) {
    const Packet packet = std::move(on_the_way.begin()->second);
    on_the_way.erase(on_the_way.begin());
    // A device whose queue is full drops packets, as any does.
    (void)!write(machines[packet.to].tun, packet.bytes.data(), packet.bytes.size());
  }
}

boost::test_tools::assertion_result has_machines(boost::unit_test::test_unit_id) {
  static const std::string why = []() -> std::string {
    // In a bare chroot, which has none, what ran on machines did not come up.
    if (access("/sys/class/net", F_OK) != 0) return "/sys/class/net: " + std::string(std::strerror(errno));
    Machine machine;
    auto problem = make_machine(machine, ip_of(0), 1500);
    close_machine(machine);
    return problem;
  }();
  boost::test_tools::assertion_result result(why.empty());
  result.message() << "no machines here, this needs root and TUN devices: " << why;
  return result;
}

}  // namespace actorflow::test
