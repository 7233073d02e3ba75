// Reader of IDX files, the format of the MNIST database:
//
//   file   := 0x00 0x00 type rank dim{rank} value{*}
//   type   := 0x08                   unsigned bytes, the only one read here
//   rank   := one byte
//   dim    := big-endian uint32
//
// plain or compressed by gzip. Pure functions; thread-safe.
#pragma once

#include <string>

#include "dataflow/tensor.h"

namespace actorflow {

// The uint8 tensor in the file `path`, or `path`.gz if there is no such file. Throws not_found if there
// is neither, data_loss if the file is not an IDX file of `rank` dimensions, is truncated or goes on
// after its last value. Memory is taken only after the header has been checked against the file's size.
Tensor read_idx(const std::string& path, int rank);

}  // namespace actorflow
