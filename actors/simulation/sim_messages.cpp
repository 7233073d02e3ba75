// Messages of a simulated network: when they arrive, and what happens then.
#include <algorithm>
#include <utility>

#include "actors/simulation/sim_network_impl.h"
#include "schema/checksum.h"
#include "schema/codec/message_bytes.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;
using Nanoseconds = std::chrono::nanoseconds;

constexpr Nanoseconds retransmission_time = 200ms;
constexpr Nanoseconds latest = 20ms;

// For Flight::waits_for_large.
bool waits_for_large(const Message& message) {
  return std::holds_alternative<AbortStep>(message) ||
         std::holds_alternative<DeregisterGraph>(message) ||
         std::holds_alternative<ReplicaDone>(message) || std::holds_alternative<Shutdown>(message);
}

}  // namespace

Nanoseconds SimNetwork::latency(TrackId from, TrackId to) {
  const double factor = 1 + model_.jitter * world_.random().fraction();
  auto time =
      Nanoseconds(static_cast<Nanoseconds::rep>(static_cast<double>(model_.latency.count()) * factor));
  return time + added_delay(from, to);
}

// Those of each of the two, of both, and of all.
template <class Use>
void SimNetwork::for_each_fault(TrackId from, TrackId to, Use use) const {
  if (link_faults_.empty()) return;
  for (const auto& [a, b] :
       {std::pair{anywhere, from}, {anywhere, to}, {from, to}, {anywhere, anywhere}})
    if (const auto found = link_faults_.find(std::minmax(a, b)); found != link_faults_.end())
      use(found->second);
}

Nanoseconds SimNetwork::added_delay(TrackId from, TrackId to) const {
  Nanoseconds sum{0};
  for_each_fault(from, to, [&](const LinkFaults& faults) { sum += faults.delay; });
  return sum;
}

double SimNetwork::at_worst(double probability, double LinkFaults::*of_faults, TrackId from,
                            TrackId to) const {
  for_each_fault(from, to, [&](const LinkFaults& faults) {
    probability = std::max(probability, faults.*of_faults);
  });
  return probability;
}

// Large messages take the ports of both machines for their time; all come in the order of their lane.
World::Time SimNetwork::arrival(std::span<const FlightRef> delivery) {
  Connection& connection = *delivery.front()->connection;
  const TrackId from = connection.caller, to = connection.port->machine;
  const bool large = delivery.front()->modelled_bytes >= large_message_bytes;
  World::Time time{};
  std::size_t size_bytes = 0;
  for (const auto& flight : delivery) {
    time = handled(from, flight->modelled_bytes, flight->joins_others);
    size_bytes += flight->modelled_bytes;
  }
  const auto transfer = Nanoseconds(
      static_cast<Nanoseconds::rep>(1e9 * static_cast<double>(size_bytes) / model_.bytes_per_second));
  if (large) {
    World::Time& sending_until = machine(from).sending_until;
    time = sending_until = std::max(time, sending_until) + transfer;
    time += latency(from, to);
    World::Time& receiving_until = machine(to).receiving_until;
    time = receiving_until = std::max(time, receiving_until + transfer);
    if (world_.random().chance(at_worst(model_.late, &LinkFaults::late, from, to)))
      time += Nanoseconds(world_.random().below(latest.count()));
  } else {
    time += transfer + latency(from, to);
  }
  if (world_.random().chance(at_worst(model_.loss, &LinkFaults::loss, from, to)))
    time += retransmission_time;
  auto& last = large ? connection.last_large : connection.last_small;
  time = std::max(time, last);
  if (std::ranges::any_of(delivery, [](const auto& flight) { return flight->waits_for_large; }))
    time = std::max(time, connection.last_large);
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

void SimNetwork::send(const ConnectionRef& connection, const Message& message) {
  if (!connection->open || !connection->port) return;
  auto bytes = encode_message(message);
  const std::size_t modelled = modelled_bytes(message, bytes.size());
  const bool large = modelled >= large_message_bytes;
  const bool waits = model_.delivery_cost > 0ns;
  auto& leaving = large ? connection->large : connection->small;
  const auto flight =
      std::make_shared<const Flight>(Flight{.connection = connection,
                                            .bytes = std::move(bytes),
                                            .modelled_bytes = modelled,
                                            .sent = world_.now(),
                                            .joins_others = waits && !large && !leaving.empty(),
                                            .waits_for_large = waits_for_large(message)});
  if (!waits) return depart(std::span(&flight, 1));
  // An event of this moment happens when nothing is left that could send more.
  if (connection->small.empty() && connection->large.empty())
    world_.at(world_.now(), [this, connection] { depart(*connection); });
  leaving.push_back(flight);
}

void SimNetwork::depart(Connection& connection) {
  const auto small = std::exchange(connection.small, {}), large = std::exchange(connection.large, {});
  if (!small.empty()) depart(std::span(small));
  for (const auto& flight : large) depart(std::span(&flight, 1));
}

void SimNetwork::depart(std::span<const FlightRef> delivery) {
  ++deliveries_;
  const Connection& connection = *delivery.front()->connection;
  const TrackId from = connection.caller, to = connection.port->machine;
  const World::Time time = arrival(delivery);
  for (const auto& flight : delivery) {
    fly(flight, time);
    if (world_.random().chance(at_worst(model_.duplication, &LinkFaults::duplication, from, to)))
      fly(flight, time + latency(from, outside));
  }
}

void SimNetwork::fly(const FlightRef& flight, World::Time arrival) {
  world_.at(arrival, [this, flight] {
    const TrackId from = flight->connection->caller, to = flight->connection->port->machine;
    if (is_cut_off(from, to))
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

}  // namespace actorflow
