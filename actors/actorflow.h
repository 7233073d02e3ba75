// Everything that a program needs.
#pragma once

#include "actors/checkpoint.h"
#include "actors/epoch_fence.h"
#include "actors/saver.h"
#include "actors/server.h"
#include "actors/session.h"
#include "dataflow/cluster_spec.h"
#include "dataflow/gradient.h"
#include "dataflow/graph.h"
#include "dataflow/optimizer.h"
#include "dataflow/partitioned_variable.h"
#include "dataflow/replica_device_setter.h"
#include "dataflow/replicate.h"
#include "dataflow/tensor.h"
#include "kernels/embedding.h"
#include "kernels/ops.h"
