// Summaries of tensors for TensorBoard, fetched with a step.
//
//   Summaries summaries;
//   summaries.scalar("loss", model.loss);
//   summaries.histogram("weights", model.variables[0]);
//   ...
//   writer.write(step, summaries.values(session.run(summaries.fetches(), feeds)));
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dataflow/graph/graph.h"
#include "schema/event.h"

namespace actorflow {

// Tags are those of TensorBoard: "/" groups them, and each is used once. All tensors belong to one
// graph, which gets the nodes that summarise them, on the devices of the tensors; so register before
// the session is made. Mistakes throw invalid_argument that names the tag. Not thread-safe.
class Summaries {
 public:
  // Adds a number: a scalar of any type but string, a float32 in the file.
  void scalar(std::string tag, Output value);
  // Adds the distribution of a tensor's elements, of which 12 KiB are sent however large the tensor is.
  // If elements are not finite, a scalar "<tag>/not_finite" counts them.
  void histogram(std::string tag, Output tensor);
  // Adds the first `max_images` of [batch, height, width, channels], with 1, 3 or 4 channels: uint8 as
  // they are, float32 scaled to the range of bytes, so that the largest is 255 if none is negative, else
  // so that 0 becomes 128. Values that are not finite are black. Tags are "<tag>/image/0",
  // "<tag>/image/1", ...
  void image(std::string tag, Output images, int max_images = 3);

  bool empty() const { return entries_.empty(); }
  // The outputs to fetch with a step; pass their values, in this order, to values().
  const std::vector<Output>& fetches() const { return fetches_; }
  // The summaries of the fetched values. Throws invalid_argument, naming the tag, for a tensor of
  // another type than registered.
  std::vector<Summary> values(std::span<const Tensor> fetched) const;

 private:
  // Adds the summaries of the tensors to `summaries`.
  using Reader = std::function<void(std::span<const Tensor>, std::vector<Summary>& summaries)>;
  struct Entry {
    std::string tag;
    std::size_t first = 0, count = 0;  // of the fetches
    Reader read;
  };
  void add(std::string tag, const std::vector<Output>& outputs, Reader read);

  std::vector<Entry> entries_;
  std::vector<Output> fetches_;
};

}  // namespace actorflow
