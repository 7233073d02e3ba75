// A simulated network between tasks, with exactly the promises of schema/link.h.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/simulation/link_model.h"
#include "actors/simulation/world/world.h"
#include "schema/link.h"

namespace actorflow {

class OpRegistry;

// What goes wrong with messages besides what their model says. Of the probabilities of both the larger
// one counts, and delays add up.
struct LinkFaults {
  std::chrono::nanoseconds delay{0};
  double loss = 0, duplication = 0, late = 0;  // as those of LinkModel
};

// Encodes and decodes messages, as between processes. A task's machine is the track on which it listens
// or connects. Not thread-safe.
class SimNetwork final : public Network {
 public:
  // REQUIRES: the arguments outlive this.
  SimNetwork(World& world, const OpRegistry& ops, Allocator& allocator);
  ~SimNetwork() override;

  std::unique_ptr<Listener> listen(const std::string& address, const TaskIdentity& self,
                                   Inbox inbox) override;
  std::unique_ptr<Link> connect(const std::string& address, const TaskIdentity& self,
                                const TaskName& peer, LinkEvents events) override;

  // Sets the model of all links.
  void set_model(const LinkModel& model) { model_ = model; }
  const LinkModel& model() const { return model_; }
  // From now on each byte of an ActorMessage's payload takes as long as `scale` bytes.
  void set_payload_scale(double scale) { payload_scale_ = scale; }
  // Every machine, in place of one.
  static constexpr TrackId anywhere = -2;
  // The faults of messages between the two, in both directions; they last until they are changed.
  LinkFaults& link_faults(TrackId a, TrackId b) { return link_faults_[std::minmax(a, b)]; }
  // Keeps what one sends from the other, until it is let through as often as it was cut off; it arrives
  // then. A connection is made while both directions are open.
  void cut_off(TrackId from, TrackId to) { ++cut_off_[{from, to}]; }
  void let_through(TrackId from, TrackId to);
  // The same for both directions.
  void separate(TrackId a, TrackId b);
  void reconnect(TrackId a, TrackId b);
  // Call when a process has died: its machine closes its connections.
  void process_died(TrackId machine);

  std::uint64_t messages() const { return messages_; }
  // How many deliveries have carried them; where LinkModel::delivery_cost is 0, as many as messages.
  std::uint64_t deliveries() const { return deliveries_; }
  // The time for which the machine has been handling messages, by the model.
  std::chrono::nanoseconds handling(TrackId machine) { return this->machine(machine).busy; }

 private:
  class LinkEnd;
  class ListenerEnd;
  struct Port;
  struct Connection;
  struct Flight;
  using PortRef = std::shared_ptr<Port>;
  using ConnectionRef = std::shared_ptr<Connection>;
  using FlightRef = std::shared_ptr<const Flight>;

  void shake_hands(const ConnectionRef& connection, const std::string& address, const TaskName& peer);
  Status admit(const Port& port, const TaskIdentity& caller);
  void send(const ConnectionRef& connection, const Message& message);
  // Sends messages that leave now as one delivery: a large one, or small ones of one connection.
  void depart(std::span<const FlightRef> delivery);
  // Sends what waits on the connection for the end of this moment: the small messages together.
  void depart(Connection& connection);
  World::Time arrival(std::span<const FlightRef> delivery);
  // The size of an encoded message for the model: set_payload_scale() counts.
  std::size_t modelled_bytes(const Message& message, std::size_t encoded_bytes) const;
  // The time when the machine will have handled a message that arrives now. `joins`: as a part of a
  // delivery that it handles already.
  World::Time handled(TrackId machine, std::size_t size_bytes, bool joins);
  // Sends a message on its way: it arrives at its machine, which handles and then receives it.
  void fly(const FlightRef& flight, World::Time arrival);
  void handle(const FlightRef& flight);
  void deliver(const Flight& flight);
  // Runs `what` after the latency, when the two machines can reach each other.
  void pass(TrackId from, TrackId to, World::Time time, std::function<void()> what);
  void close(const ConnectionRef& connection, bool by_caller, const std::string& why);
  // A closed connection stays listed until the next one is made, so that a machine that dies meanwhile
  // does not hear of its end.
  void mark_closed(const ConnectionRef& connection);
  void forget_closed();
  void close(const PortRef& port);
  std::chrono::nanoseconds latency(TrackId from, TrackId to);
  template <class Use>
  void for_each_fault(TrackId from, TrackId to, Use use) const;
  // The sum of the delays on this way, and the largest of the probability and those of its faults.
  std::chrono::nanoseconds added_delay(TrackId from, TrackId to) const;
  double at_worst(double probability, double LinkFaults::*of_faults, TrackId from, TrackId to) const;
  bool is_cut_off(TrackId from, TrackId to) const {
    return !cut_off_.empty() && cut_off_.contains({from, to});
  }
  // True if that way is open from now on.
  bool stop_cutting(TrackId from, TrackId to);
  void release_held();

  struct Machine {
    // Its port, for large messages.
    World::Time sending_until{}, receiving_until{};
    // Its processor, for handling messages.
    World::Time busy_until{};
    std::chrono::nanoseconds busy{0};
    std::map<std::uint64_t, ConnectionRef> calls;  // the connections that it has made, by number
  };
  Machine& machine(TrackId track);

  World& world_;
  const OpRegistry& ops_;
  Allocator& allocator_;
  LinkModel model_;
  double payload_scale_ = 1;
  std::map<std::string, PortRef> ports_;  // by address
  std::vector<ConnectionRef> closed_;
  std::uint64_t next_connection_ = 0;
  std::map<std::pair<TrackId, TrackId>, LinkFaults> link_faults_;  // the smaller number is first
  std::map<std::pair<TrackId, TrackId>, int> cut_off_;             // from, to: how often
  struct Held {
    TrackId from, to;
    std::function<void()> what;
  };
  std::vector<Held> held_;
  // The first one is for code outside of all machines. A deque: machines may be added while there are
  // references.
  std::deque<Machine> machines_;
  std::uint16_t next_port_ = 1024;
  std::uint64_t messages_ = 0;
  std::uint64_t deliveries_ = 0;
};

}  // namespace actorflow
