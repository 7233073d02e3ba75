#include "actors/models/logs/epoch_sums.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "kernels/ops.h"

namespace actorflow {
namespace {

std::size_t row_number(int epoch) { return epoch % 2 == 0 ? 0 : 1; }

std::size_t begin_of_row(const Tensor& sums, int epoch) {
  return row_number(epoch) * static_cast<std::size_t>(sums.shape()[1]);
}

Tensor row_of(const Tensor& sums, int epoch) {
  const std::int64_t width = sums.shape()[1];
  const auto row =
      sums.values<double>().subspan(begin_of_row(sums, epoch), static_cast<std::size_t>(width));
  return Tensor::of<double>({width}, {row.begin(), row.end()});
}

double examples_in(const Tensor& sums, int epoch) {
  return sums.values<double>()[begin_of_row(sums, epoch)];
}

}  // namespace

Tensor row_of_epoch(int epoch) {
  std::vector<double> row(2);
  row[row_number(epoch)] = 1;
  return Tensor::of<double>({2}, row);
}

double loss_sum(const Tensor& sums, int epoch) {
  return sums.values<double>()[begin_of_row(sums, epoch) + 1];
}

Totals totals_of(const std::vector<Metric>& metrics, const Tensor& row, std::span<const Tensor> last,
                 std::span<const Tensor> like) {
  Totals totals(metrics);
  totals.add_sums(row.values<double>(), like);
  // Replicas that hear late of a short epoch count for another: what the chief measured last is there.
  if (row.values<double>()[0] == 0 && !last.empty()) totals.add(last, 1);
  return totals;
}

EpochSums::EpochSums(Graph& graph, const Variable& sums)
    : sums_(sums.value()),
      change_(graph.placeholder(DType::float64, sums.type().shape)),
      take_(graph.assign_add(sums, change_)),
      set_(graph.assign(sums, change_)) {}

Tensor EpochSums::take(Session& session, Runtime& runtime, int epoch, double expected) const {
  using namespace std::chrono_literals;
  constexpr int tries = 100;
  Tensor sums = read(session);
  for (int i = 0; i < tries && examples_in(sums, epoch) < expected; ++i) {
    runtime.sleep(10ms);
    sums = read(session);
  }
  return take_row(session, sums, epoch);
}

Tensor EpochSums::so_far(Session& session, int epoch) const { return row_of(read(session), epoch); }

void EpochSums::forget_late(Session& session, int epoch) const {
  const Tensor sums = read(session);
  if (examples_in(sums, epoch + 1) != 0) take_row(session, sums, epoch + 1);
}

// More may have been added meanwhile.
Tensor EpochSums::take_row(Session& session, const Tensor& sums, int epoch) const {
  const Tensor taken = row_of(sums, epoch);
  const auto row = taken.values<double>();
  const std::size_t begin = begin_of_row(sums, epoch), count = row.size();
  Tensor change = Tensor::zeros(DType::float64, sums.shape());
  std::ranges::transform(row, change.mutable_values<double>().subspan(begin, count).begin(),
                         std::negate());
  Output by = take_;
  if (!std::ranges::all_of(row, [](double value) { return std::isfinite(value); })) {
    change = sums.clone();  // from a NaN nothing can be taken
    std::ranges::fill(change.mutable_values<double>().subspan(begin, count), 0);
    by = set_;
  }
  session.run(std::vector<Output>{}, {{change_, change}}, {by});
  return taken;
}

}  // namespace actorflow
