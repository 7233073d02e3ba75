#include "apps/plots/charts.h"

namespace actorflow {
namespace {

constexpr double width = 960, left = 20, middle = 230, top = 62, row = 22;
constexpr std::size_t caption_characters = 26, text_characters = 88;

}  // namespace

std::string to_svg(const TextList& list) {
  Svg svg(width, top + row * static_cast<double>(list.lines.size()) + 8, list.title);
  svg.text({left, 28}, list.title, {.size = 17, .bold = true});
  for (std::size_t i = 0; i < list.lines.size(); ++i) {
    const double y = top + row * static_cast<double>(i);
    const auto& [text, caption] = list.lines[i];
    svg.text({middle - 14, y}, shortened(caption, caption_characters),
             {.anchor = Anchor::end, .bold = true});
    svg.text({middle, y}, shortened(text, text_characters));
  }
  return std::move(svg).finish();
}

}  // namespace actorflow
