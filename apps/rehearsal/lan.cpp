#include "apps/rehearsal/lan.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "apps/rehearsal/lan_machine.h"
#include "apps/rehearsal/temporary_folder.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

using RealTime = std::chrono::steady_clock;

constexpr std::uint32_t network = 0x0A4D'0000;  // 10.77.0.0/16
constexpr std::size_t max_packet_bytes = 65'536;
constexpr std::size_t small_packet_bytes = 256;  // an acknowledgement, a short message
constexpr auto latest = 20ms;

std::uint32_t ip_of(int machine) { return network + static_cast<std::uint32_t>(machine) + 1; }

}  // namespace

struct Lan::Impl {
  ~Impl() {
    if (carrier.joinable()) {
      eventfd_write(ending, 1);
      carrier.join();
    }
    close(ending);
  }

  void write_hosts() const;
  void carry();
  void take_packets(std::size_t from);
  void send(std::size_t from, std::size_t to, std::vector<char> packet);
  void deliver_due();
  int wait_ms() const;

  struct Packet {
    std::size_t to;
    std::vector<char> bytes;
  };
  std::vector<LanMachine> machines;
  const int ending = eventfd(0, EFD_CLOEXEC);
  std::multimap<RealTime::time_point, Packet> on_the_way;  // the carrier's, as is the randomness
  std::minstd_rand random{1};
  std::mutex mutex;  // guards the rest
  std::vector<Wire> wires;
  Wire common_wire;
  std::set<std::pair<int, int>> separated;  // the lower one first
  std::map<std::string, int> names;
  PacketCounts counts;
  const TemporaryFolder folder{"actorflow-lan"};
  const std::string hosts_file = folder.file("hosts");
  std::thread carrier;
};

void PacketCounts::add(const PacketCounts& other) {
  carried += other.carried;
  separated += other.separated;
  lost += other.lost;
  doubled += other.doubled;
  late += other.late;
}

Lan::Lan(int machines, int mtu) : impl_(std::make_unique<Impl>()) {
  for (int i = 0; i < machines; ++i) impl_->machines.emplace_back(ip_of(i), mtu);
  impl_->wires.resize(impl_->machines.size());
  impl_->write_hosts();
  impl_->carrier = std::thread([this] { impl_->carry(); });
}

Lan::~Lan() = default;

std::string Lan::why_none() {
  // In a bare chroot, which has none, what ran on machines did not come up.
  if (access("/sys/class/net", F_OK) != 0)
    return fmt::format("/sys/class/net: {}", std::strerror(errno));
  try {
    const LanMachine machine(ip_of(0), 1500);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

void Lan::set_name(const std::string& name, int machine) {
  const std::lock_guard lock(impl_->mutex);
  impl_->names[name] = machine;
  impl_->write_hosts();
}

// In place: the machines have mounted this file.
void Lan::Impl::write_hosts() const {
  std::string hosts = "127.0.0.1 localhost\n";
  for (const auto& [name, machine] : names) {
    const std::uint32_t ip = ip_of(machine);
    hosts += fmt::format("{}.{}.{}.{} {}\n", ip >> 24, ip >> 16 & 0xFF, ip >> 8 & 0xFF, ip & 0xFF, name);
  }
  std::ofstream(hosts_file) << hosts;
}

std::vector<std::string> Lan::on(int machine, std::vector<std::string> command) const {
  const int name_space = impl_->machines.at(static_cast<std::size_t>(machine)).name_space();
  command.insert(command.begin(),
                 {"/usr/bin/nsenter", fmt::format("--net=/proc/{}/fd/{}", getpid(), name_space),
                  "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                  fmt::format(R"(mount --bind {} /etc/hosts && exec "$0" "$@")", impl_->hosts_file)});
  return command;
}

void Lan::separate(const std::vector<std::pair<int, int>>& pairs) {
  const std::lock_guard lock(impl_->mutex);
  impl_->separated.clear();
  for (const auto& [a, b] : pairs) impl_->separated.insert(std::minmax(a, b));
}

void Lan::cut_off(const std::vector<int>& machines) {
  std::vector<std::pair<int, int>> pairs;
  for (const int machine : machines)
    for (int other = 0; other < static_cast<int>(impl_->machines.size()); ++other)
      if (std::ranges::find(machines, other) == machines.end()) pairs.emplace_back(machine, other);
  separate(pairs);
}

void Lan::set_wire(int machine, Wire wire) {
  const std::lock_guard lock(impl_->mutex);
  impl_->wires.at(static_cast<std::size_t>(machine)) = wire;
}

PacketCounts Lan::counts() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->counts;
}

void Lan::set_common_wire(Wire wire) {
  const std::lock_guard lock(impl_->mutex);
  impl_->common_wire = wire;
}

void Lan::Impl::carry() {
  std::vector<pollfd> sources{{ending, POLLIN, 0}};
  for (const auto& machine : machines) sources.push_back({machine.tun(), POLLIN, 0});
  while (sources[0].revents == 0) {
    const int ready = poll(sources.data(), sources.size(), wait_ms());
    if (ready < 0 && errno != EINTR) return;
    for (std::size_t i = 0; ready > 0 && i < machines.size(); ++i)
      if (sources[i + 1].revents != 0) take_packets(i);
    deliver_due();
  }
}

int Lan::Impl::wait_ms() const {
  if (on_the_way.empty()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(on_the_way.begin()->first - RealTime::now());
  return std::max(0, static_cast<int>(left.count()));
}

void Lan::Impl::take_packets(std::size_t from) {
  static thread_local std::vector<char> buffer(max_packet_bytes);
  constexpr int at_once = 64;
  for (int i = 0; i < at_once; ++i) {
    const auto size = read(machines[from].tun(), buffer.data(), buffer.size());
    if (size < 20 || (buffer[0] & 0xF0) != 0x40) {  // not IPv4
      if (size < 0) return;
      continue;
    }
    std::uint32_t destination = 0;
    std::memcpy(&destination, buffer.data() + 16, sizeof destination);
    const std::size_t to = ntohl(destination) - ip_of(0);
    if (to < machines.size()) send(from, to, {buffer.data(), buffer.data() + size});
  }
}

void Lan::Impl::send(std::size_t from, std::size_t to, std::vector<char> packet) {
  const std::lock_guard lock(mutex);
  if (separated.contains(std::minmax(static_cast<int>(from), static_cast<int>(to)))) {
    ++counts.separated;
    return;
  }
  std::uniform_real_distribution<double> chance(0, 1);
  RealTime::duration delay{0};
  bool lost = false, doubled = false, late = false;
  for (const Wire& wire : {wires[from], wires[to], common_wire}) {
    lost |= chance(random) < wire.loss;
    doubled |= chance(random) < wire.duplication;
    late |= packet.size() > small_packet_bytes && chance(random) < wire.late;
    delay += wire.delay;
  }
  if (late) delay += std::chrono::duration_cast<RealTime::duration>(chance(random) * latest);
  counts.add({.carried = 1, .lost = lost, .doubled = doubled, .late = late});
  if (lost) return;
  if (doubled) on_the_way.emplace(RealTime::now() + delay, Packet{to, packet});
  on_the_way.emplace(RealTime::now() + delay, Packet{to, std::move(packet)});
}

void Lan::Impl::deliver_due() {
  while (!on_the_way.empty() && on_the_way.begin()->first <= RealTime::now()) {
    const Packet packet = std::move(on_the_way.begin()->second);
    on_the_way.erase(on_the_way.begin());
    // A device whose queue is full drops packets, as any does.
    (void)!write(machines[packet.to].tun(), packet.bytes.data(), packet.bytes.size());
  }
}

}  // namespace actorflow
