// The op table's rows of ops in models: gather and scatter, normalisation, batches of matrices, gelu and
// dropout.
#pragma once

#include <vector>

#include "test/kernels/support/op_table.h"

namespace actorflow::test {

std::vector<OpRow> model_rows();

}  // namespace actorflow::test
