// Charts of training runs, as SVG files.
//
//   save_plot(folder, "loss", to_svg(LineChart{.title = "Loss", .x_label = "epoch", .y_label = "loss",
//                                              .series = {{"training", by_epoch(losses)}}}));
//
// Labels may be any text. What is not finite is left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/plots/svg.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

struct Series {
  std::string name;
  std::vector<PlotPoint> points;  // in the order of x; a y that is not finite leaves a gap
};
// Values at 1, 2, 3, ...
std::vector<PlotPoint> by_epoch(const std::vector<double>& values);

// Curves, with a legend on the right.
struct LineChart {
  std::string title{}, x_label{}, y_label{};
  std::vector<Series> series{};
};
std::string to_svg(const LineChart& chart);

struct Bar {
  std::string label;
  double value = 0;
  bool marked = false;  // in another colour: the sum of the others, for example
};
// A bar in each row, with its label and its value.
struct BarChart {
  std::string title{}, label{};  // what is measured
  std::vector<Bar> bars{};
  // Where bars begin; other than 0 the chart says so.
  double from = 0;
};
std::string to_svg(const BarChart& chart);

// How often examples of a class (the row) were taken for one of a class (the column), darker for a
// greater share of the row. REQUIRES: as many rows as classes, and columns in each.
struct ConfusionMatrix {
  std::string title{};
  std::vector<std::string> classes{};
  std::vector<std::vector<std::int64_t>> counts{};
};
std::string to_svg(const ConfusionMatrix& matrix);
// Throws invalid_argument unless both are as long, and within the classes.
ConfusionMatrix confusion_matrix(std::string title, std::vector<std::string> classes,
                                 const std::vector<std::int64_t>& labels,
                                 const std::vector<std::int64_t>& predicted);

struct CaptionedImage {
  Tensor image;  // uint8, or float32 from 0 to 1: [height, width] or [height, width, 1 to 4]
  std::string caption;  // may have several lines
};
// Images of any size, in rows.
struct ImageGrid {
  std::string title{};
  std::vector<CaptionedImage> images{};
  int columns = 8;
};
// Throws invalid_argument for a tensor that is no image, or no column.
std::string to_svg(const ImageGrid& grid);

struct CaptionedText {
  std::string text, caption;
};
// Lines of text, each beside its caption.
struct TextList {
  std::string title{};
  std::vector<CaptionedText> lines{};
};
std::string to_svg(const TextList& list);

}  // namespace actorflow
