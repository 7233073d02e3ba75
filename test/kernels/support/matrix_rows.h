// The op table's rows of products of matrices, what is made of rows of logits, and the ops that stand
// for several of these.
#pragma once

#include <vector>

#include "test/kernels/support/op_table.h"

namespace actorflow::test {

std::vector<OpRow> matrix_rows();
std::vector<OpRow> fused_rows();

}  // namespace actorflow::test
