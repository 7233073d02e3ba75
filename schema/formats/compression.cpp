#include "schema/formats/compression.h"

namespace actorflow {

Compression compression_of(std::string_view path) {
  if (path.ends_with(".gz")) return Compression::gzip;
  if (path.ends_with(".zst")) return Compression::zstd;
  if (path.ends_with(".lz4")) return Compression::lz4;
  return Compression::none;
}

const char* extension_of(Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return ".gz";
    case Compression::zstd:
      return ".zst";
    case Compression::lz4:
      return ".lz4";
    case Compression::none:
      break;
  }
  return "";
}

}  // namespace actorflow
