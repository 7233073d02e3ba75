// A text as examples for a model that foretells the next character.
#pragma once

#include <string>

#include "apps/training/data/labelled_data.h"

namespace actorflow {

// Reads a text (load_text()), plain or with .gz at the end of its name: blocks of that many characters,
// those of training from places that are drawn; the last tenth of the text is to test on. A pass over
// the data are as many blocks as the text to train on holds.
LabelledData load_text_blocks(const std::string& path, std::int64_t block);

}  // namespace actorflow
