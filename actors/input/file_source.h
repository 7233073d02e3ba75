// Files that are read through Storage in blocks.
#pragma once

#include <memory>
#include <string>

#include "actors/runtime/storage.h"
#include "schema/formats/byte_source.h"

namespace actorflow {

// The bytes of a file, decompressed if it is a gzip file. Throws as Storage::open; data_loss if the file
// shrinks while it is read.
std::unique_ptr<ByteSource> open_data_file(Storage& storage, const std::string& path);
// The same for `path`, or `path`.gz if there is no such file.
std::unique_ptr<ByteSource> open_data_file_or_gzip(Storage& storage, const std::string& path);

}  // namespace actorflow
