// Event files, as TensorBoard reads them: TFRecords (tfrecord.h) of the values below. Plain values;
// everything here is thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

struct ScalarSummary {
  double value = 0;  // float32 in the file
};

struct HistogramSummary {
  double min = 0, max = 0;
  double count = 0, sum = 0, sum_of_squares = 0;
  // Bucket i counts values in [limit i - 1, limit i).
  std::vector<double> limits, buckets;
};

struct ImageSummary {
  int height = 0, width = 0;
  int channels = 0;  // 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
  std::string png;
};

struct Summary {
  std::string tag;
  std::variant<ScalarSummary, HistogramSummary, ImageSummary> value;
};

struct Event {
  struct Version {  // the first of each file
    std::string name = "brain.Event:2";
  };
  struct GraphEvent {
    std::string def;  // made by encode_tensorflow_graph()
  };
  // A session starts, or restarts, at the event's step: readers discard earlier records of that step and
  // later ones.
  struct SessionStart {};

  double wall_time_s = 0;  // since 1970
  std::int64_t step = 0;
  std::variant<Version, GraphEvent, SessionStart, std::vector<Summary>> what;
};

// Writes runs of empty buckets of a histogram as one.
std::vector<std::byte> encode_event(const Event& event);
// The inverse; leaves out summaries of unknown kinds. Throws data_loss if the bytes are no event.
Event decode_event(std::span<const std::byte> bytes);

// The graph as TensorFlow's GraphDef: names, ops, inputs, devices, attributes of interest to readers,
// and the shapes of all outputs.
std::string encode_tensorflow_graph(const GraphDef& graph);
// The number of nodes in a TensorFlow GraphDef. Throws data_loss.
std::size_t count_tensorflow_nodes(const std::string& graph);

// `pixels` [height, width, channels], 1 to 4 channels, as a PNG file. Throws invalid_argument for other
// sizes.
ImageSummary encode_image(int height, int width, int channels, std::span<const std::uint8_t> pixels);

}  // namespace actorflow
