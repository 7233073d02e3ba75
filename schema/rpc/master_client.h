// A client of a master in another process (master.capnp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dataflow/values/buffer.h"
#include "schema/master.h"

namespace actorflow {

// A connection to the master of the task at one address, with a thread of its own. Thread-safe: calls
// of several threads run at the same time.
class MasterClient {
 public:
  // Tries until the task answers. Throws unavailable, naming it, after `connect_timeout_ms`;
  // failed_precondition if it speaks another version; permission_denied if either end refuses the other's
  // certificate, or only one has any; invalid_argument unless `address` is "host:port". Fetched tensors
  // come from `allocator`, which must outlive them. `credentials`: the folder with ca.crt, client.crt and
  // client.key; empty: a plain connection. A task that is connected, but answers nothing for
  // `silence_timeout_ms`, not even that it is there, is stopped or cut off: the connection is lost.
  MasterClient(const std::string& address, Allocator& allocator, std::int64_t connect_timeout_ms,
               const std::string& credentials = {}, std::int64_t silence_timeout_ms = 30'000);
  // Ends calls under way as unavailable; none may begin.
  ~MasterClient();

  // Blocks for the answer. Never throws for what goes wrong on the way: a broken connection is a reply
  // of status unavailable, a request that cannot be sent one that says why.
  MasterReply call(const MasterRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow
