@0x9ea8cabb65fa6fbf;
# What makes a checkpoint valid. A manifest file is one message in Cap'n Proto's standard framing,
# followed by its XXH64 (8 bytes, little-endian).

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("actorflow::wire");
using DType = import "tensor.capnp".DType;

const manifestVersion :UInt32 = 2;

struct Manifest {
  version @0 :UInt32;
  globalStep @1 :Int64;
  files @2 :List(File);
  tensors @3 :List(Entry);
  savedAt @4 :Int64;
  # Seconds since 1970.
  blockBytes @5 :UInt64;
  # Tensors are checked in blocks of so many bytes, so that a part of one can be read and trusted.
  oneStep @6 :Bool;
  # Every variable, with its slots, has had the updates of the steps up to globalStep and no others.
  # False: not known, as in asynchronous training.

  struct File {
    name @0 :Text;
    sizeBytes @1 :UInt64;
    headerBytes @2 :UInt64;
    # What is in front of the tensors, which fill the rest of the file.
    headerChecksum @3 :UInt64;
    # XXH64 of the header.
  }

  struct Entry {
    name @0 :Text;
    variable @1 :Text;
    # The variable beside which an optimizer keeps this tensor; empty for the value of a variable.
    dtype @2 :DType;
    dims @3 :List(Int64);
    # Of what is here: the tensor or a slice of it.
    firstRow @4 :Int64;
    # Where a slice begins along axis 0 of the whole tensor.
    fullRows @5 :Int64;
    # The whole tensor's dimension 0; -1 for a tensor that is not sliced.
    file @6 :UInt32;
    # Position in `files`.
    offset @7 :UInt64;
    sizeBytes @8 :UInt64;
    checksums @9 :List(UInt64);
    # XXH64 of each block.
  }
}
