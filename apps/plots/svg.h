// Pictures in SVG, element by element. The charts of this folder are made of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace actorflow {

// Pixels from the upper left corner.
struct PlotPoint {
  double x = 0, y = 0;
};
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = 13;
  Anchor anchor = Anchor::start;
  std::string_view colour = "#333";
  bool bold = false;
  bool upwards = false;  // turned by 90 degrees to the left
};

// The text for XML: markup escaped, characters that XML lacks left out, bytes that are no UTF-8
// replaced.
std::string xml_text(std::string_view text);
// At most that many characters, the last one of which is then an ellipsis. REQUIRES: characters > 0.
std::string shortened(std::string_view text, std::size_t characters);

// Not thread-safe. Colours are CSS colours. Coordinates are rounded to hundredths of a pixel.
class Svg {
 public:
  // With a white background; `title` is what screen readers say, and tooltips show.
  Svg(double width, double height, std::string_view title);

  void line(PlotPoint from, PlotPoint to, std::string_view colour, double width = 1);
  void polyline(const std::vector<PlotPoint>& points, std::string_view colour, double width = 2);
  void circle(PlotPoint centre, double radius, std::string_view colour);
  void rectangle(const Box& box, std::string_view colour);
  // `at` is on the base line.
  void text(PlotPoint at, std::string_view text, const TextStyle& style = {});
  // A PNG file, embedded; its pixels stay sharp when they are enlarged.
  void image(const Box& box, std::string_view png);

  // The file.
  std::string finish() &&;

 private:
  std::string text_;
};

// Colours of series that stay apart for colour-blind people (Okabe and Ito, 2008); they repeat.
std::string_view series_colour(std::size_t number);

// Writes folder/name.svg, and makes the folder if need be. Throws disk_error, naming the file.
void save_plot(const std::string& folder, const std::string& name, const std::string& svg);

}  // namespace actorflow
