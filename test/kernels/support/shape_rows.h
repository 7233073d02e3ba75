// The op table's rows of the ops that move elements and compute nothing.
#pragma once

#include <vector>

#include "test/kernels/support/op_table.h"

namespace actorflow::test {

std::vector<OpRow> shape_rows();

}  // namespace actorflow::test
