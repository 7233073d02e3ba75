// The op table's rows of attention.
#pragma once

#include <vector>

#include "test/kernels/support/op_table.h"

namespace actorflow::test {

std::vector<OpRow> attention_rows();

}  // namespace actorflow::test
