// The parts of a simulated network. For sim_network.cpp and sim_messages.cpp only.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "actors/simulation/sim_network.h"

namespace actorflow {

// A port on which a machine listens.
struct SimNetwork::Port {
  TrackId machine;
  TaskIdentity self;
  Inbox inbox;
  bool open = true;
  std::map<std::uint64_t, std::weak_ptr<Connection>> connections{};  // by number
};

// A connection of a caller to a port.
struct SimNetwork::Connection {
  std::uint64_t number;
  TrackId caller;
  TaskIdentity self;  // of the caller
  LinkEvents events;
  PortRef port;              // null until the handshake is done
  bool caller_there = true;  // nobody tells it anything after it has gone
  bool open = true;
  World::Time last_small{}, last_large{};   // arrivals: each lane keeps its order
  std::vector<FlightRef> small{}, large{};  // sent at this moment, and waiting for its end
};

// A message on its way.
struct SimNetwork::Flight {
  ConnectionRef connection;
  std::vector<std::byte> bytes;
  std::size_t modelled_bytes;
  World::Time sent;
  bool joins_others;     // it is not the first one of its delivery
  bool waits_for_large;  // it keeps its order behind large ones, as link.h promises
};

}  // namespace actorflow
