// Series of numbers as a line of text.
#pragma once

#include <span>
#include <string>

namespace actorflow {

// At most `width` characters, each for the mean of a part of the series: from ▁ for the smallest to █
// for the largest; ▄ if all are equal, ? if no number of a part is finite.
std::string sparkline(std::span<const double> values, std::size_t width);

}  // namespace actorflow
