// The other process of the transport benchmarks: an actor that answers messages over a link as tasks
// use them, and a thread that answers bytes on a raw socket.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace actorflow::bench {

// How the peer answers a TensorDelivery, by its channel. A DeregisterGraph comes back as it is.
enum Answer : std::uint32_t {
  echo,         // the same again
  acknowledge,  // DeregisterGraph with the step as its handle
  silent,       // not at all
  slow,         // not at all, after as many microseconds as the number of the step
};

// How the peer answers on a raw stream, whose first bytes are this: with `reply_bytes` for every
// `message_bytes`.
struct RawPattern {
  std::uint64_t message_bytes;
  std::uint64_t reply_bytes;
};

struct PeerOptions {
  std::int64_t spin_us = 0;      // of its network
  int core = -1;                 // the only core that it may use
  std::string credentials = {};  // of both tasks; empty: plain connections
};

// A second process of this program, as the peer. Ends with this object, or with this process. Not
// thread-safe.
class PeerProcess {
 public:
  // The peer answers to the task /job:here/task:0 at `address`. Throws unavailable if it does not start.
  PeerProcess(const std::string& address, const PeerOptions& options);
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;
  ~PeerProcess();

  // Where the peer, /job:there/task:0, listens.
  const std::string& link_address() const { return link_address_; }
  std::uint16_t raw_port() const { return raw_port_; }
  std::uint16_t raw_tls_port() const { return raw_tls_port_; }  // 0 without credentials
  std::string raw_local_name() const;
  pid_t id() const { return id_; }

 private:
  void read_addresses();

  pid_t id_ = -1;
  int to_peer_ = -1;
  int from_peer_ = -1;
  std::string link_address_;
  std::uint16_t raw_port_ = 0, raw_tls_port_ = 0;
};

// Runs the peer until standard input ends, with the parent. Does not return.
[[noreturn]] void run_peer(const std::string& address_of_parent, const PeerOptions& options);

}  // namespace actorflow::bench
