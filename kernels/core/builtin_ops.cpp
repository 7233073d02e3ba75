#include "kernels/core/builtin_ops.h"

namespace actorflow {

std::vector<Op> list_builtin_ops() {
  std::vector<Op> all;
  for (const auto family : {core_op_kernels, unary_ops,      binary_ops,         compare_ops,
                            cast_ops,        reduce_ops,     broadcast_ops,      shape_ops,
                            slice_ops,       concat_ops,     random_ops,         matmul_ops,
                            bias_ops,        softmax_ops,    cross_entropy_ops,  fused_dense_ops,
                            conv_ops,        pooling_ops,    batch_norm_ops,     gelu_ops,
                            gather_ops,      scatter_ops,    layer_norm_ops,     batch_matmul_ops,
                            dropout_ops,     embedding_ops,  histogram_ops,      special_function_ops,
                            tile_ops,        cumsum_ops,     along_axis_ops,     top_k_ops,
                            cond_ops,        while_loop_ops, while_gradient_ops, softmax_gradient_ops,
                            attention_ops,   recurrent_ops}) {
    const auto ops = family();
    all.insert(all.end(), ops.begin(), ops.end());
  }
  return all;
}

}  // namespace actorflow
