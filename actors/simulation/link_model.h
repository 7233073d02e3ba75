// How simulated links behave.
#pragma once

#include <chrono>

namespace actorflow {

// A way between two machines.
struct LinkModel {
  std::chrono::nanoseconds latency{100'000};  // one way
  double jitter = 0.5;                        // up to so many times the latency on top
  double bytes_per_second = 1.25e9;           // of a machine's port, each direction
  // What a message costs the processor of each of the two machines, which handles one after the other:
  // a time for each, and one for its bytes. 0 = nothing.
  std::chrono::nanoseconds message_cost{0};
  double byte_cost_ns = 0;
  // Of messages. A lost one comes after the retransmission time of TCP, and holds up those behind it.
  double loss = 0;
  // Of messages; they come twice, which a connection never does: a stand-in for whatever could say the
  // same thing again.
  double duplication = 0;
  // Of large messages: these come up to 20 ms later, so that small ones overtake them by far.
  double late = 0;
};

}  // namespace actorflow
