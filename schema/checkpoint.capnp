@0x9ea8cabb65fa6fbf;
# What makes a checkpoint valid. A manifest file is one message in Cap'n Proto's standard framing,
# followed by its XXH64 (8 bytes, little-endian).

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("actorflow::wire");
using DType = import "tensor.capnp".DType;

const manifestVersion :UInt32 = 1;

struct Manifest {
  version @0 :UInt32;
  globalStep @1 :Int64;
  files @2 :List(File);
  tensors @3 :List(Entry);

  struct File {
    name @0 :Text;
    sizeBytes @1 :UInt64;
    checksum @2 :UInt64;
    # XXH64 of the whole file.
  }

  struct Entry {
    name @0 :Text;
    dtype @1 :DType;
    dims @2 :List(Int64);
    file @3 :UInt32;
    # Position in `files`.
    offset @4 :UInt64;
    sizeBytes @5 :UInt64;
    checksum @6 :UInt64;
    # XXH64 of these bytes.
  }
}
