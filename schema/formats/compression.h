// How a file is compressed.
#pragma once

#include <cstdint>
#include <string_view>

#include "dataflow/values/same_build.h"

namespace actorflow {

enum class Compression : std::uint8_t { none, gzip, zstd, lz4 };

// The compression that the extension of a path names: .gz, .zst or .lz4; none for others.
Compression compression_of(std::string_view path);
// The extension, "" for none.
const char* extension_of(Compression compression);

}  // namespace actorflow
