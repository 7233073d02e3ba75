// The list of built-in ops: a family per file of kernels.
#pragma once

#include <vector>

#include "kernels/core/kernel.h"

namespace actorflow {

std::vector<Op> core_op_kernels();    // core.cu: dataflow's own ops, with or without a kernel
std::vector<Op> unary_ops();          // unary.cu
std::vector<Op> binary_ops();         // binary.cu
std::vector<Op> compare_ops();        // compare.cu
std::vector<Op> cast_ops();           // cast.cu
std::vector<Op> reduce_ops();         // reduce.cu
std::vector<Op> broadcast_ops();      // broadcast_ops.cu
std::vector<Op> shape_ops();          // shape_ops.cu
std::vector<Op> slice_ops();          // slice.cu
std::vector<Op> concat_ops();         // concat.cu
std::vector<Op> random_ops();         // random.cu
std::vector<Op> matmul_ops();         // matmul.cu
std::vector<Op> bias_ops();           // bias.cu
std::vector<Op> softmax_ops();        // softmax.cu
std::vector<Op> cross_entropy_ops();  // cross_entropy.cu
std::vector<Op> fused_dense_ops();    // fused_dense.cu
std::vector<Op> conv_ops();           // conv.cu
std::vector<Op> pooling_ops();        // pooling.cu
std::vector<Op> batch_norm_ops();     // batch_norm.cu

std::vector<Op> gelu_ops();          // gelu.cu
std::vector<Op> gather_ops();        // gather.cu
std::vector<Op> scatter_ops();       // scatter.cu
std::vector<Op> embedding_ops();     // embedding.cu
std::vector<Op> layer_norm_ops();    // layer_norm.cu
std::vector<Op> batch_matmul_ops();  // batch_matmul.cu
std::vector<Op> dropout_ops();       // dropout.cu
std::vector<Op> histogram_ops();     // histogram.cu

std::vector<Op> special_function_ops();  // special_functions.cu
std::vector<Op> softmax_gradient_ops();  // softmax_gradient.cu
std::vector<Op> attention_ops();         // attention.cu
std::vector<Op> recurrent_ops();         // recurrent.cu
std::vector<Op> tile_ops();              // tile.cu
std::vector<Op> cumsum_ops();            // cumsum.cu
std::vector<Op> along_axis_ops();        // along_axis.cu
std::vector<Op> top_k_ops();             // top_k.cu

std::vector<Op> cond_ops();            // cond.cpp
std::vector<Op> while_loop_ops();      // while_loop.cpp
std::vector<Op> while_gradient_ops();  // while_gradient.cpp

// All of them.
std::vector<Op> list_builtin_ops();

}  // namespace actorflow
