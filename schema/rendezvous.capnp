@0xd1c3ab7a5e0f4c92;
# How the ranks of a job learn each other's addresses, where a launcher (mpirun, srun, ...) tells each process
# its number alone (environment/README.md). Rank 0 listens, the others call. The connection's own addresses say
# where a rank is, its words only at which port.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("actorflow::wire");
using Status = import "cluster.capnp".Status;

interface Rendezvous {
  # The bootstrap interface of the port. A connection may send 16 KiB.
  enter @0 (job :UInt64) -> (status :Status, meeting :Meeting);
  # not_found if the ranks of another job meet here. Answered at once.
}

interface Meeting {
  join @0 (rank :UInt32, size :UInt32, parameterServers :UInt32, port :UInt16)
      -> (status :Status, addresses :List(Text));
  # Answered when all ranks have come: "host:port" by rank; or when the meeting has failed, with the reason.
  # already_exists at once for a rank that another connection has.
}
