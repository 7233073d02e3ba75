// A hash of text that is the same on every machine and in every version: buckets that were trained once
// keep their meaning.
#pragma once

#include <cstdint>
#include <string_view>

namespace actorflow {

// FarmHash's Fingerprint64 (Pike and Alakuijala 2014), by which TensorFlow finds the buckets of
// categorical columns.
std::uint64_t fingerprint64(std::string_view text);

// The fingerprint of two fingerprints in their order, as TensorFlow's crossed columns join them.
std::uint64_t joined_fingerprint(std::uint64_t first, std::uint64_t second);

}  // namespace actorflow
