// The model of simulated links.
#pragma once

#include <chrono>

namespace actorflow {

// The properties of the way between two machines.
struct LinkModel {
  std::chrono::nanoseconds latency{100'000};  // one way
  double jitter = 0.5;                        // adds up to this fraction of the latency
  double bytes_per_second = 1.25e9;           // of a machine's port, each direction
  // The processor time of a message on each of the two machines, which handle one after the other: a
  // time per message, and one for its bytes; and one per delivery, which carries the small messages that
  // a task sends to another at one moment, as a real connection writes them together: what is sent to a
  // task then leaves when the moment ends, before what was sent to others later. 0 = nothing.
  std::chrono::nanoseconds message_cost{0};
  std::chrono::nanoseconds delivery_cost{0};
  double byte_cost_ns = 0;
  // The fraction of lost messages. A lost message arrives after TCP's retransmission time, and holds up
  // those behind it.
  double loss = 0;
  // The fraction of messages that arrive twice. A connection never does that: it stands for any code
  // that repeats a message.
  double duplication = 0;
  // The fraction of large messages that arrive up to 20 ms later, so that many small ones overtake them.
  double late = 0;
};

}  // namespace actorflow
