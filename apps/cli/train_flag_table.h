// The table of the flags of training. For train_flags.cpp only.
#pragma once

#include "apps/cli/flag_table.h"
#include "apps/cli/train_flags.h"

namespace actorflow {

const FlagTable<TrainFlags>& train_flag_table();

}  // namespace actorflow
