// Summaries: what a program wants to see of its tensors in TensorBoard, fetched with one step.
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
  // A number: a scalar of any type but string. In the file it is a float32.
  void scalar(std::string tag, Output value);
  // How the elements of a tensor are distributed. What travels are 12 KiB, however large the tensor.
  // Where elements are not finite, a scalar "<tag>/not_finite" says how many.
  void histogram(std::string tag, Output tensor);
  // The first `max_images` of [batch, height, width, channels], with 1, 3 or 4 channels: uint8 as they
  // are, float32 scaled to the range of bytes: 0 or above so that the largest is 255, else so that 0
  // becomes 128. What is not finite is black. Tags are "<tag>/image/0", "<tag>/image/1", ...
  void image(std::string tag, Output images, int max_images = 3);

  bool empty() const { return entries_.empty(); }
  // To be fetched; pass what came, in this order, to values().
  const std::vector<Output>& fetches() const { return fetches_; }
  // Throws invalid_argument, naming the tag, for a tensor that is not what was registered.
  std::vector<Summary> values(std::span<const Tensor> fetched) const;

 private:
  // Adds to `summaries` what the tensors say.
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
