// The layers of models, with the defaults of Keras 3.
//
//   Model model = sequential({dense(128, relu), dropout(0.2), dense(10)});
//
// Shapes below leave out nothing: the first dimension is the batch, which may differ from step to step.
// Variables are float32. A layer of your own is a function: layers/layer.h.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/layers/activation.h"
#include "actors/layers/functional.h"
#include "actors/layers/layer.h"
#include "actors/layers/recurrent.h"
#include "kernels/ops.h"

namespace actorflow {

struct DenseOptions {
  bool bias = true;
  Initializer weights = glorot_uniform();
  Initializer biases = zeros();
  Regularizer regularizer{};  // of the weights
};
// x [batch, ..., features] -> [batch, ..., units]: activation(x weights + biases).
Layer dense(std::int64_t units, const Activation& activation = {}, const DenseOptions& options = {});

struct ConvLayerOptions {
  Extent strides = 1;
  Padding padding = Padding::valid;
  bool bias = true;
  Initializer weights = glorot_uniform();
  Initializer biases = zeros();
  Regularizer regularizer{};  // of the filters
};
// Images [batch, height, width, channels] -> [batch, ., ., filters].
Layer conv2d(std::int64_t filters, Extent window, const Activation& activation = {},
             const ConvLayerOptions& options = {});

struct PoolOptions {
  Extent strides = 0;  // 0: as large as the windows
  Padding padding = Padding::valid;
};
Layer max_pool(Extent windows = 2, const PoolOptions& options = {});
Layer avg_pool(Extent windows = 2, const PoolOptions& options = {});
// Over all places: images [batch, height, width, channels], or texts and series [batch, length,
// channels] -> [batch, channels]. The mean is over the places that the mask has (masking()), the maximum
// over all, as Keras'; the mean of none is 0.
Layer global_avg_pool();
Layer global_max_pool();

// `causal`: step t sees no later ones.
enum class SeriesPadding : std::uint8_t { valid, same, causal };
struct Conv1dOptions {
  std::int64_t strides = 1;
  SeriesPadding padding = SeriesPadding::valid;
  std::int64_t dilation = 1;  // a window sees one step in so many; 1 where strides are more
  bool bias = true;
  Initializer weights = glorot_uniform();
  Initializer biases = zeros();
  Regularizer regularizer{};  // of the filters
};
// Series [batch, steps, channels] -> [batch, ., filters]; weights [window, channels, filters].
Layer conv1d(std::int64_t filters, std::int64_t window, const Activation& activation = {},
             const Conv1dOptions& options = {});
struct Pool1dOptions {
  std::int64_t strides = 0;  // 0: as large as the windows
  Padding padding = Padding::valid;
};
Layer max_pool1d(std::int64_t window = 2, const Pool1dOptions& options = {});
Layer avg_pool1d(std::int64_t window = 2, const Pool1dOptions& options = {});

struct BatchNormOptions {
  double kept = 0.99;  // of a moving average in a step (Keras' momentum)
  double epsilon = 1e-3;
  bool relu = false;  // of the result, in the same pass
};
// x [batch, ..., channels]. In training by the statistics of the batch, else by moving averages. With
// two inputs the second is added to the result, before the relu.
Layer batch_norm(const BatchNormOptions& options = {});
// Normalises over the last axis.
Layer layer_norm(double epsilon = 1e-3);

// In training each element becomes 0 with the probability `rate`, else x / (1 - rate).
Layer dropout(double rate);
// ids [batch, ...], int32 or int64 -> [batch, ..., width]: rows of a table of `rows`.
Layer embedding(std::int64_t rows, std::int64_t width,
                const Initializer& initial = uniform(-0.05, 0.05));
struct EmbeddingLayerOptions {
  Initializer initial = uniform(-0.05, 0.05);
  bool mask_zero = false;  // ids [batch, length] that are 0 are none: the result has a mask
};
Layer embedding(std::int64_t rows, std::int64_t width, const EmbeddingLayerOptions& options);
// One layer for both ends of a model (Press and Wolf 2017). Called with ids it is embedding(); called
// with vectors [batch, ..., width] it gives logits [batch, ..., rows], the products with each row of the
// table.
Layer tied_embedding(std::int64_t rows, std::int64_t width,
                     const Initializer& initial = uniform(-0.05, 0.05));
// x [batch, length, width] plus a trained vector for each of the `length` positions.
Layer position_embedding(const Initializer& initial = uniform(-0.05, 0.05));

struct AttentionOptions {
  bool causal = false;  // no position sees later ones
  double dropout = 0;   // of the attention weights
  bool bias = true;
  Initializer weights = glorot_uniform();
  Initializer output_weights{};  // of the last product; none: as the others
};
// Multi-head attention (Vaswani et al. 2017) with `heads` heads of `head_width`. One input [batch,
// length, width] attends to itself; of two inputs the first attends to the second; three are query,
// value and key, as Keras orders them. The result has the shape of the first input.
Layer attention(std::int64_t heads, std::int64_t head_width, const AttentionOptions& options = {});

// Steps of series [batch, steps, features] whose features all have this value are none: they become 0,
// and the result has a mask (LayerScope::mask). Recurrent layers keep their state there, attention()
// does not look there, global_avg_pool() and the loss leave them out. Layers that keep the steps pass
// the mask on; those that change them, such as conv1d(), flatten() and reshape(), do not.
Layer masking(double value = 0);
// The layer at each step of [batch, steps, ...], with the same weights. dense() and what works element
// by element do not need it.
Layer time_distributed(const Layer& layer);
// [batch, features] -> [batch, times, features].
Layer repeat_vector(std::int64_t times);
// Another order of the axes behind the batch, which are counted from 1: permute({2, 1}).
Layer permute(const std::vector<std::int64_t>& axes);

// [batch, ...] -> [batch, all the rest].
Layer flatten();
// Another shape of each example, of as many elements; one dimension may be -1.
Layer reshape(const Shape& shape);
// float32(x) * scale + offset: such as pixels of 0 to 255 to 0 to 1.
Layer rescaling(double scale, double offset = 0);
Layer activation(const Activation& function);

// Layers of several inputs: their sum, product, largest or smallest elements, or mean; or the inputs
// side by side along an axis.
Layer add();
Layer multiply();
Layer maximum();
Layer minimum();
Layer average();
// The first of two inputs minus the second.
Layer subtract();
// The dot products of two inputs along an axis: of [batch, n] twice -> [batch, 1]; of [batch, m, n] and
// [batch, k, n] -> [batch, m, k]. With `normalize` of vectors that are divided by their lengths:
// cosines.
Layer dot(std::int64_t axis = -1, bool normalize = false);
Layer concatenate(std::int64_t axis = -1);

}  // namespace actorflow
