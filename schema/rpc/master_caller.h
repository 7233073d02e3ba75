// The calling side of master.capnp. Internal to schema/: includes Cap'n Proto.
#pragma once

#include "schema/master.h"
#include "schema/rpc/rpc_core.h"

namespace actorflow {

// A reply with that status.
kj::Own<MasterReply> failure(Status status);

// Sends requests to one master. For the loop's thread.
class MasterCaller {
 public:
  // Fetched tensors come from `allocator`.
  MasterCaller(wire::Master::Client master, RpcEnd& rpc, Allocator& allocator)
      : master_(kj::mv(master)), rpc_(rpc), allocator_(allocator) {}

  // Throws Error for a request that cannot be sent; the promise fails if the connection does.
  kj::Promise<kj::Own<MasterReply>> call(const MasterRequest& request);

 private:
  wire::Master::Client master_;
  RpcEnd& rpc_;
  Allocator& allocator_;
};

}  // namespace actorflow
