// What messages between ranks cost, by which the algorithms of an all-reduce are chosen.
#pragma once

#include <cstdint>

namespace actorflow {

// The costs of a message from rank to rank, in seconds. A rank sends one message after the other, each
// of which takes it per_message + bytes * per_byte (what it costs the receiver is counted here, too);
// the message is there a latency later. (LogGP: A. Alexandrov et al., "LogGP: Incorporating Long
// Messages into the LogP Model", 1995.) Beside that, the bytes pass the port of the sender's host, one
// after the other for all of its ranks.
struct LinkCost {
  double latency = 0;
  double per_message = 0;
  double per_byte = 0;
  double per_byte_of_port = 0;

  bool operator==(const LinkCost&) const = default;
};

// Between ranks of one host, and of two. The defaults are of the right size for processes of one
// machine, and for machines on a network of 25 Gbit/s.
struct CostModel {
  LinkCost host{.latency = 30e-6, .per_message = 2e-6, .per_byte = 0.25e-9, .per_byte_of_port = 0};
  LinkCost network{
      .latency = 100e-6, .per_message = 4e-6, .per_byte = 0.4e-9, .per_byte_of_port = 0.32e-9};
  double per_added_byte = 0.1e-9;

  bool operator==(const CostModel&) const = default;
};

// Throws invalid_argument, naming what it is, if a cost is negative or not finite.
void check_costs(const CostModel& costs);

// What was measured between two ranks, in seconds; 0: it was not.
struct LinkTimes {
  double round_trip = 0;  // of a small message and its answer
  double burst = 0;       // of so many small messages, sent at once, and all their answers
  int burst_messages = 2;
  double large = 0;  // of a message of so many bytes, and a small answer
  std::int64_t large_bytes = 1;
};

// The costs that explain these times; of what was not measured, the usual ones. One message does not
// tell what its bytes cost the rank and what the port: they are divided as usual. A latency is 15 us at
// least: ranks that answer each other are awake, while one that waits for an all-reduce has to wake up.
LinkCost link_cost(const LinkTimes& times, const LinkCost& usual);

}  // namespace actorflow
