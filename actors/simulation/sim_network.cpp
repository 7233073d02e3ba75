#include "actors/simulation/sim_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/simulation/sim_network_impl.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

// How long a caller tries to connect to a machine that does not answer.
constexpr std::chrono::nanoseconds connect_patience = 3s;

}  // namespace

class SimNetwork::LinkEnd final : public Link {
 public:
  LinkEnd(SimNetwork& network, ConnectionRef connection)
      : network_(network), connection_(std::move(connection)) {}
  ~LinkEnd() override {
    connection_->caller_there = false;
    network_.close(connection_, true, "closed");
  }

  void send(Message message) override { network_.send(connection_, message); }
  TensorPath tensor_path() const override { return TensorPath::stream; }

 private:
  SimNetwork& network_;
  ConnectionRef connection_;
};

class SimNetwork::ListenerEnd final : public Listener {
 public:
  ListenerEnd(SimNetwork& network, std::string address, PortRef port)
      : network_(network), address_(std::move(address)), port_(std::move(port)) {}
  ~ListenerEnd() override { network_.close(port_); }

  const std::string& address() const override { return address_; }

 private:
  SimNetwork& network_;
  const std::string address_;
  const PortRef port_;
};

SimNetwork::SimNetwork(World& world, const OpRegistry& ops, Allocator& allocator)
    : world_(world), ops_(ops), allocator_(allocator) {}

SimNetwork::~SimNetwork() = default;

std::unique_ptr<Listener> SimNetwork::listen(const std::string& address, const TaskIdentity& self,
                                             Inbox inbox) {
  std::string taken = address;
  if (taken.ends_with(":0"))
    taken = fmt::format("{}{}", taken.substr(0, taken.size() - 1), next_port_++);
  const auto port = std::make_shared<Port>(Port{world_.current(), self, std::move(inbox), true});
  if (!ports_.emplace(taken, port).second)
    throw Error(Code::already_exists,
                fmt::format("cannot listen on {}: the port is already in use", taken));
  return std::make_unique<ListenerEnd>(*this, taken, port);
}

std::unique_ptr<Link> SimNetwork::connect(const std::string& address, const TaskIdentity& self,
                                          const TaskName& peer, LinkEvents events) {
  auto connection = std::make_shared<Connection>();
  connection->number = next_connection_++;
  connection->caller = world_.current();
  connection->self = self;
  connection->events = std::move(events);
  forget_closed();
  this->machine(connection->caller).calls.emplace(connection->number, connection);
  const auto there = ports_.find(address);
  const TrackId machine = there == ports_.end() ? connection->caller : there->second->machine;
  if (is_cut_off(connection->caller, machine) || is_cut_off(machine, connection->caller))
    world_.after(connect_patience, [this, connection, address] {
      close(connection, false, fmt::format("no answer from {}", address));
    });
  else
    world_.after(2 * latency(connection->caller, machine),
                 [this, connection, address, peer] { shake_hands(connection, address, peer); });
  return std::make_unique<LinkEnd>(*this, std::move(connection));
}

void SimNetwork::shake_hands(const ConnectionRef& connection, const std::string& address,
                             const TaskName& peer) {
  if (!connection->open) return;
  const auto there = ports_.find(address);
  if (there == ports_.end())
    return close(connection, false, fmt::format("cannot reach {}: nobody listens there", address));
  const PortRef port = there->second;
  const TaskName& name = port->self.name;
  const Status answer = name == peer ? admit(*port, connection->self)
                                     : Status{Code::failed_precondition,
                                              fmt::format("expected {} at {}, but {} answers there",
                                                          peer.to_string(), address, name.to_string())};
  if (answer.ok()) {
    connection->port = port;
    port->connections.emplace(connection->number, connection);
  } else {
    mark_closed(connection);
  }
  world_.as(connection->caller,
            [&] { answer.ok() ? connection->events.up(port->self) : connection->events.down(answer); });
}

Status SimNetwork::admit(const Port& port, const TaskIdentity& caller) {
  Status answer;
  if (port.inbox.admit) world_.as(port.machine, [&] { answer = port.inbox.admit(caller); });
  return answer;
}

SimNetwork::Machine& SimNetwork::machine(TrackId track) {
  const auto place = static_cast<std::size_t>(track - outside);
  if (place >= machines_.size()) machines_.resize(place + 1);
  return machines_[place];
}

void SimNetwork::pass(TrackId from, TrackId to, World::Time time, std::function<void()> what) {
  world_.at(time, [this, from, to, what = std::move(what)] {
    if (is_cut_off(from, to))
      held_.push_back({from, to, what});
    else
      what();
  });
}

void SimNetwork::mark_closed(const ConnectionRef& connection) {
  connection->open = false;
  closed_.push_back(connection);
}

void SimNetwork::forget_closed() {
  for (const auto& connection : std::exchange(closed_, {})) {
    machine(connection->caller).calls.erase(connection->number);
    if (connection->port) connection->port->connections.erase(connection->number);
  }
}

// Closes the connection here, and at the other end when the news has reached it.
void SimNetwork::close(const ConnectionRef& connection, bool by_caller, const std::string& why) {
  if (!connection->open) return;
  depart(*connection);
  mark_closed(connection);
  const PortRef port = connection->port;
  if (by_caller) {
    // The end of the connection arrives after all that was sent before.
    const auto sent = std::max(connection->last_small, connection->last_large);
    if (port)
      pass(connection->caller, port->machine,
           std::max(sent, world_.now() + latency(connection->caller, port->machine)),
           [this, connection, port] {
             if (!port->open) return;
             world_.as(port->machine, [&] { port->inbox.gone(connection->self); });
           });
    return;
  }
  const TrackId from = port ? port->machine : connection->caller;
  pass(from, connection->caller, world_.now() + latency(from, connection->caller),
       [this, connection, why] {
         if (!connection->caller_there) return;
         world_.as(connection->caller, [&] { connection->events.down({Code::unavailable, why}); });
       });
}

void SimNetwork::close(const PortRef& port) {
  if (!std::exchange(port->open, false)) return;
  std::erase_if(ports_, [&](const auto& entry) { return entry.second == port; });
  const std::string why = fmt::format("lost the connection to {}", port->self.name.to_string());
  for (const auto& [number, connection] : port->connections) close(connection.lock(), false, why);
}

void SimNetwork::process_died(TrackId machine) {
  for (const auto& [number, connection] : this->machine(machine).calls) {
    connection->caller_there = false;
    close(connection, true, "the process has died");
  }
  std::vector<PortRef> ports;
  for (const auto& entry : ports_)
    if (entry.second->machine == machine) ports.push_back(entry.second);
  for (const auto& port : ports) close(port);
}

void SimNetwork::separate(TrackId a, TrackId b) {
  cut_off(a, b);
  cut_off(b, a);
}

void SimNetwork::reconnect(TrackId a, TrackId b) {
  const bool there = stop_cutting(a, b), back = stop_cutting(b, a);
  if (there || back) release_held();
}

void SimNetwork::let_through(TrackId from, TrackId to) {
  if (stop_cutting(from, to)) release_held();
}

bool SimNetwork::stop_cutting(TrackId from, TrackId to) {
  const auto found = cut_off_.find({from, to});
  if (found == cut_off_.end() || --found->second > 0) return false;
  cut_off_.erase(found);
  return true;
}

// What was held goes on its way; messages that are sent from now on arrive after it.
void SimNetwork::release_held() {
  std::vector<Held> still_held;
  for (auto& held : std::exchange(held_, {})) {
    if (is_cut_off(held.from, held.to))
      still_held.push_back(std::move(held));
    else
      world_.after(model_.latency, std::move(held.what));
  }
  held_ = std::move(still_held);
  for (const auto& machine : machines_)
    for (const auto& [number, connection] : machine.calls)
      connection->last_small = connection->last_large =
          std::max({connection->last_small, connection->last_large, world_.now() + model_.latency});
}

}  // namespace actorflow
