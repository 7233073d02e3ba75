// Rows of the op table: repeating, indices along an axis, running sums, the largest elements.
#pragma once

#include "test/kernels/support/op_table.h"

namespace actorflow::test {

std::vector<OpRow> array_rows();

}  // namespace actorflow::test
