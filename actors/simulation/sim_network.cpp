#include "actors/simulation/sim_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "schema/checksum.h"
#include "schema/codec/message_bytes.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;
using Nanoseconds = std::chrono::nanoseconds;

constexpr Nanoseconds retransmission_time = 200ms;
constexpr Nanoseconds latest = 20ms;
// How long a caller tries to connect to a machine that does not answer.
constexpr Nanoseconds connect_patience = 3s;

// Whether the message keeps its order behind large ones, as link.h promises.
bool waits_for_large(const Message& message) {
  return std::holds_alternative<AbortStep>(message) ||
         std::holds_alternative<DeregisterGraph>(message) ||
         std::holds_alternative<ReplicaDone>(message) || std::holds_alternative<Shutdown>(message);
}

}  // namespace

// A port on which a machine listens.
struct SimNetwork::Port {
  TrackId machine;
  TaskIdentity self;
  Inbox inbox;
  bool open = true;
  std::map<std::uint64_t, std::weak_ptr<Connection>> connections{};  // by number
};

struct SimNetwork::Connection {
  std::uint64_t number;
  TrackId caller;
  TaskIdentity self;  // of the caller
  LinkEvents events;
  PortRef port;              // null until the handshake is done
  bool caller_there = true;  // nobody tells it anything after it has gone
  bool open = true;
  World::Time last_small{}, last_large{};  // arrivals: each lane keeps its order
  std::optional<World::Time> delivery_left{};  // when the last one of small messages was sent
  Nanoseconds delivery_latency{0};             // of that one
};

struct SimNetwork::Flight {
  Flight(ConnectionRef on, std::vector<std::byte> encoded, std::size_t modelled, World::Time at,
         bool joins)
      : connection(std::move(on)),
        bytes(std::move(encoded)),
        modelled_bytes(modelled),
        sent(at),
        joins_others(joins) {}

  ConnectionRef connection;
  std::vector<std::byte> bytes;
  std::size_t modelled_bytes;
  World::Time sent;
  bool joins_others;
};

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
  if (separated(connection->caller, machine))
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

Nanoseconds SimNetwork::latency(TrackId from, TrackId to) {
  const double factor = 1 + model_.jitter * world_.random().fraction();
  auto time =
      Nanoseconds(static_cast<Nanoseconds::rep>(static_cast<double>(model_.latency.count()) * factor));
  return time + machine(from).delay + machine(to).delay;
}

bool SimNetwork::joins_others(Connection& connection, std::size_t size_bytes) {
  if (size_bytes >= large_message_bytes) return false;
  return std::exchange(connection.delivery_left, world_.now()) == world_.now();
}

// Large messages take the ports of both machines for their time; all come in the order of their lane.
World::Time SimNetwork::arrival(Connection& connection, const Message& message, std::size_t size_bytes,
                                bool joins) {
  const TrackId from = connection.caller, to = connection.port->machine;
  const bool large = size_bytes >= large_message_bytes;
  const auto transfer = Nanoseconds(
      static_cast<Nanoseconds::rep>(1e9 * static_cast<double>(size_bytes) / model_.bytes_per_second));
  World::Time time = handled(from, size_bytes, joins);
  if (large) {
    World::Time& sending_until = machine(from).sending_until;
    time = sending_until = std::max(time, sending_until) + transfer;
    time += latency(from, to);
    World::Time& receiving_until = machine(to).receiving_until;
    time = receiving_until = std::max(time, receiving_until + transfer);
    if (world_.random().chance(model_.late)) time += Nanoseconds(world_.random().below(latest.count()));
  } else {
    if (!joins || model_.delivery_cost == 0ns) connection.delivery_latency = latency(from, to);
    time += transfer + connection.delivery_latency;
  }
  if (world_.random().chance(model_.loss)) time += retransmission_time;
  auto& last = large ? connection.last_large : connection.last_small;
  time = std::max(time, last);
  if (waits_for_large(message)) time = std::max(time, connection.last_large);
  return last = time;
}

std::size_t SimNetwork::modelled_bytes(const Message& message, std::size_t encoded_bytes) const {
  const auto* letter = std::get_if<ActorMessage>(&message);
  if (!letter || !letter->payload.valid()) return encoded_bytes;
  const auto payload = static_cast<double>(letter->payload.size_bytes());
  return encoded_bytes + static_cast<std::size_t>((payload_scale_ - 1) * payload);
}

World::Time SimNetwork::handled(TrackId track, std::size_t size_bytes, bool joins) {
  const auto cost =
      model_.message_cost + (joins ? 0ns : model_.delivery_cost) +
      Nanoseconds(static_cast<Nanoseconds::rep>(model_.byte_cost_ns * static_cast<double>(size_bytes)));
  if (cost <= 0ns) return world_.now();
  Machine& handler = machine(track);
  handler.busy += cost;
  return handler.busy_until = std::max(handler.busy_until, world_.now()) + cost;
}

SimNetwork::Machine& SimNetwork::machine(TrackId track) {
  const auto place = static_cast<std::size_t>(track - outside);
  if (place >= machines_.size()) machines_.resize(place + 1);
  return machines_[place];
}

void SimNetwork::send(const ConnectionRef& connection, const Message& message) {
  if (!connection->open || !connection->port) return;
  auto bytes = encode_message(message);
  const std::size_t modelled = modelled_bytes(message, bytes.size());
  const bool joins = joins_others(*connection, modelled);
  if (!joins) ++deliveries_;
  const auto flight =
      std::make_shared<const Flight>(connection, std::move(bytes), modelled, world_.now(), joins);
  const World::Time time = arrival(*connection, message, modelled, joins);
  fly(flight, time);
  if (world_.random().chance(model_.duplication))
    fly(flight, time + latency(connection->caller, outside));
}

void SimNetwork::fly(const FlightRef& flight, World::Time arrival) {
  world_.at(arrival, [this, flight] {
    const TrackId from = flight->connection->caller, to = flight->connection->port->machine;
    if (separated(from, to))
      held_.push_back({from, to, [this, flight] { handle(flight); }});
    else
      handle(flight);
  });
}

void SimNetwork::handle(const FlightRef& flight) {
  const World::Time done =
      handled(flight->connection->port->machine, flight->modelled_bytes, flight->joins_others);
  if (done == world_.now()) return deliver(*flight);
  world_.at(done, [this, flight] { deliver(*flight); });
}

void SimNetwork::pass(TrackId from, TrackId to, World::Time time, std::function<void()> what) {
  world_.at(time, [this, from, to, what = std::move(what)] {
    if (separated(from, to))
      held_.push_back({from, to, what});
    else
      what();
  });
}

void SimNetwork::deliver(const Flight& flight) {
  const Connection& connection = *flight.connection;
  const Port& port = *connection.port;
  if (!port.open) return;
  ++messages_;
  Trace& trace = world_.trace();
  trace.mix(checksum(flight.bytes));
  Message message = decode_message(flight.bytes, ops_, allocator_);
  if (trace.recording())
    trace.message(flight.sent - World::beginning, connection.caller, world_.elapsed(), port.machine,
                  name_of(message));
  world_.as(port.machine, [&] { port.inbox.received(connection.self, std::move(message)); });
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

void SimNetwork::separate(TrackId a, TrackId b) { separated_.insert(std::minmax(a, b)); }

void SimNetwork::reconnect(TrackId a, TrackId b) {
  separated_.erase(std::minmax(a, b));
  std::vector<Held> still_held;
  for (auto& held : std::exchange(held_, {})) {
    if (separated(held.from, held.to))
      still_held.push_back(std::move(held));
    else
      world_.after(model_.latency, std::move(held.what));
  }
  held_ = std::move(still_held);
  // Messages that are sent from now on arrive after those that were held.
  for (const auto& machine : machines_)
    for (const auto& [number, connection] : machine.calls)
      connection->last_small = connection->last_large =
          std::max({connection->last_small, connection->last_large, world_.now() + model_.latency});
}

}  // namespace actorflow
