// Files that are read through Storage in blocks.
#pragma once

#include <memory>
#include <string>

#include "actors/runtime/storage.h"
#include "schema/formats/byte_source.h"

namespace actorflow {

// Plain or, if the file's beginning says that it is compressed, what it contains. Throws not_found and
// so on as Storage::open; data_loss if the file shrinks while it is read.
std::unique_ptr<ByteSource> open_data_file(Storage& storage, const std::string& path);
// The same without a look at the beginning, for files of any bytes; compression_of(path) goes by the
// name.
std::unique_ptr<ByteSource> open_data_file(Storage& storage, const std::string& path,
                                           Compression compression);
// The first for `path`, or `path`.gz if there is no such file.
std::unique_ptr<ByteSource> open_data_file_or_gzip(Storage& storage, const std::string& path);

}  // namespace actorflow
