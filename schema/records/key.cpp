#include "schema/records/key.h"

#include "dataflow/values/error.h"

// The header alone: no library to link or to install.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace actorflow {

std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void detail::throw_bad_key(std::size_t bytes, const std::string& layout) {
  throw Error(Code::data_loss,
              "a key of " + layout + " does not take all of its " + std::to_string(bytes) + " bytes");
}

}  // namespace actorflow
