// Data to train on, of whatever kind a path names.
#pragma once

#include <cstdint>
#include <string>

#include "apps/training/data/labelled_data.h"

namespace actorflow {

// Of a folder with images (images.h), a table (*.csv, table.h), or a text (*.txt, text.h) in blocks of
// that many characters; files also with .gz at the end of their names. Throws what reading them throws,
// and not_found that says what was looked for.
LabelledData load_data(const std::string& path, std::int64_t block = 64);
// The same of a path that the user gives by these flags: not_found names them, too.
LabelledData load_data_of_flags(const std::string& path, const std::string& flags,
                                std::int64_t block = 64);

}  // namespace actorflow
