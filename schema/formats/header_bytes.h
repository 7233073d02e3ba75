// Helpers of the readers of headers. For this folder only.
#pragma once

#include <span>
#include <string>

#include "dataflow/values/error.h"
#include "schema/formats/array_header.h"

namespace actorflow {

inline Error damaged_file(const ByteSource& source, const std::string& what) {
  return Error(Code::data_loss, source.name() + ": " + what + "; replace the file");
}

// Reads the next bytes of a header, and counts them. `what` names the kind of file in errors.
void read_header_part(ByteSource& source, std::span<std::byte> part, const char* what,
                      ArrayHeader& header);

// Computes row_bytes. Throws data_loss if the file cannot hold that many rows.
void check_array_size(ByteSource& source, std::size_t element_bytes, ArrayHeader& header);

std::string hexadecimal(std::span<const std::byte> bytes);  // " 0a ff"

}  // namespace actorflow
