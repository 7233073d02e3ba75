// A client of a master in another process (master.capnp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "dataflow/values/buffer.h"
#include "schema/master.h"

namespace actorflow {

// A connection to the master of the task at an address, with a thread of its own. Thread-safe: calls of
// several threads run at the same time.
class MasterClient {
 public:
  // Tries until the task answers. Throws unavailable, naming it, after `connect_timeout_ms`;
  // failed_precondition if it speaks another version; permission_denied if either end refuses the
  // other's certificate, or only one has any; invalid_argument unless `address` is "host:port". Fetched
  // tensors come from `allocator`, which must outlive them. `credentials`: the folder with ca.crt,
  // client.crt and client.key; empty: a plain connection. If a connected task sends nothing for
  // `silence_timeout_ms`, not even a sign of life, it is stopped or cut off: the connection is lost.
  // `on_wait`, if any, is called once if the task has not answered within 2 s, with what the last try
  // met.
  MasterClient(const std::string& address, Allocator& allocator, std::int64_t connect_timeout_ms,
               const std::string& credentials = {}, std::int64_t silence_timeout_ms = 30'000,
               const std::function<void(const std::string& why)>& on_wait = {});
  // Ends calls under way as unavailable. REQUIRES: no call begins any more.
  ~MasterClient();

  // Blocks for the answer. Does not throw for failures of the connection: a broken one gives a reply of
  // status unavailable, a request that cannot be sent a reply with the reason.
  MasterReply call(const MasterRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow
