#include "schema/formats/compression.h"

namespace actorflow {

Compression compression_of(std::string_view path) {
  if (path.ends_with(".gz")) return Compression::gzip;
  if (path.ends_with(".zst")) return Compression::zstd;
  if (path.ends_with(".lz4")) return Compression::lz4;
  return Compression::none;
}

}  // namespace actorflow
