// The op table's rows of the ops that compute each element by itself.
#pragma once

#include <vector>

#include "test/kernels/support/op_table.h"

namespace actorflow::test {

std::vector<OpRow> unary_rows();
std::vector<OpRow> binary_rows();
std::vector<OpRow> compare_rows();

}  // namespace actorflow::test
