@0xfc9b3953cf8eb658;
# Tensors on the wire.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("actorflow::wire");

enum DType {
  # The numbers are those of dataflow/values/dtype.h and never change.
  invalid @0;
  float32 @1;
  float64 @2;
  int32 @3;
  int64 @4;
  boolean @5;
  uint8 @6;
  string @7;
  float16 @8;
  bfloat16 @9;
  int8 @10;
  int16 @11;
}

struct Shape {
  # A dimension of -1 is unknown. At most 8 dimensions.
  union {
    dims @0 :List(Int64);
    unknownRank @1 :Void;
  }
}

struct Tensor {
  dtype @0 :DType;
  # `invalid` means that there is no tensor.
  dims @1 :List(Int64);
  # All known: none is negative.
  union {
    data @2 :Data;
    # The elements in row-major order, little-endian, without gaps; a boolean is a byte, 0 or 1.
    strings @3 :List(Data);
    # The elements of a string tensor.
    transfer @4 :UInt64;
    # The elements came before, as chunks of this transfer. A string tensor's bytes are then, for each
    # element, its length (UInt64, little-endian) and its characters.
  }
}

struct TensorChunk {
  # A piece of a tensor that is too large for one message.
  transfer @0 :UInt64;
  # A number that the sender chooses; used once per sink.
  offset @1 :UInt64;
  # In bytes. The chunks of a transfer come in order, without gaps or overlaps.
  total @2 :UInt64;
  # The size of the whole transfer in bytes, the same in every chunk.
  data @3 :Data;
}

interface TensorSink {
  # Takes the large tensors that later messages on the same connection refer to.
  put @0 (chunk :TensorChunk) -> stream;
  done @1 () -> ();
  # Returns when everything that was called before has been taken.
}
