// Between std::string and Cap'n Proto's text. Internal to schema/: includes Cap'n Proto.
#pragma once

#include <capnp/blob.h>
#include <capnp/list.h>

#include <string>
#include <vector>

#include "dataflow/values/check.h"

namespace actorflow {

inline capnp::Text::Reader to_text(const std::string& text) { return {text.c_str(), text.size()}; }
inline std::string to_string(capnp::Text::Reader text) { return {text.begin(), text.size()}; }

// REQUIRES: `to` has as many elements as `texts`.
inline void write_texts(const std::vector<std::string>& texts, capnp::List<capnp::Text>::Builder to) {
  ACTORFLOW_CHECK(to.size() == texts.size(), to.size(), "places for", texts.size());
  for (unsigned i = 0; i < to.size(); ++i) to.set(i, to_text(texts[i]));
}
inline std::vector<std::string> read_texts(capnp::List<capnp::Text>::Reader from) {
  std::vector<std::string> texts;
  texts.reserve(from.size());
  for (const auto text : from) texts.push_back(to_string(text));
  return texts;
}

}  // namespace actorflow
