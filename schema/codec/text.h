// Between std::string and Cap'n Proto's text. Internal to schema/: includes Cap'n Proto.
#pragma once

#include <capnp/blob.h>

#include <string>

namespace actorflow {

inline capnp::Text::Reader to_text(const std::string& text) { return {text.c_str(), text.size()}; }
inline std::string to_string(capnp::Text::Reader text) { return {text.begin(), text.size()}; }

}  // namespace actorflow
