// Tables of numbers, of which the last column is the class of a row.
#pragma once

#include <string>

#include "apps/training/data/labelled_data.h"

namespace actorflow {

// Reads a CSV file whose first line is a heading. Of its rows, in an order of their own, four of five
// are to train on: float32 [columns - 1], as they are in the file; classes count from 0. Throws what
// reading throws, and data_loss if there is nothing to learn.
LabelledData load_table(const std::string& path);

}  // namespace actorflow
