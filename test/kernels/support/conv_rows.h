// The op table's rows of the ops on images: convolution, pooling, batch normalisation.
#pragma once

#include <vector>

#include "test/kernels/support/op_table.h"

namespace actorflow::test {

std::vector<OpRow> conv_rows();

}  // namespace actorflow::test
