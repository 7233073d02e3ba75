// The recurrent ops in the op table.
#pragma once

#include <vector>

#include "test/kernels/support/op_table.h"

namespace actorflow::test {

std::vector<OpRow> recurrent_rows();

}  // namespace actorflow::test
