#include "actors/ensembles/logistic_regression.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

namespace actorflow {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
Vector plus(const Vector& a, double factor, const Vector& b) {
  Vector sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + factor * b[i];
  return sum;
}
double largest_part(const Vector& a) {
  double most = 0;
  for (const double value : a) most = std::max(most, std::abs(value));
  return most;
}

// The objective to minimise, as a function of all weights, feature by feature, and then the biases.
class Objective {
 public:
  Objective(const Tensor& features, const std::vector<std::int64_t>& labels, std::int64_t classes,
            double c)
      : x_(features.values<double>()),
        labels_(labels),
        features_(static_cast<std::size_t>(features.shape()[1])),
        classes_(static_cast<std::size_t>(classes)),
        penalty_(1 / c) {}

  std::size_t size() const { return (features_ + 1) * classes_; }

  double operator()(const Vector& w, Vector& gradient) const {
    gradient.assign(size(), 0);
    double loss = 0;
    for (std::size_t i = 0; i < features_ * classes_; ++i) {
      loss += penalty_ * w[i] * w[i] / 2;
      gradient[i] = penalty_ * w[i];
    }
    Vector p(classes_);
    for (std::size_t row = 0; row < labels_.size(); ++row) loss += add_row(row, w, p, gradient);
    return loss;
  }

 private:
  double add_row(std::size_t row, const Vector& w, Vector& p, Vector& gradient) const {
    const auto x = x_.subspan(row * features_, features_);
    std::copy_n(w.end() - static_cast<std::ptrdiff_t>(classes_), classes_, p.begin());
    for (std::size_t f = 0; f < features_; ++f)
      for (std::size_t k = 0; k < classes_; ++k) p[k] += x[f] * w[f * classes_ + k];
    const auto label = static_cast<std::size_t>(labels_[row]);
    const double most = *std::ranges::max_element(p), logit = p[label] - most;
    double sum = 0;
    for (double& value : p) sum += value = std::exp(value - most);
    for (double& value : p) value /= sum;
    p[label] -= 1;
    for (std::size_t f = 0; f < features_; ++f)
      for (std::size_t k = 0; k < classes_; ++k) gradient[f * classes_ + k] += x[f] * p[k];
    for (std::size_t k = 0; k < classes_; ++k) gradient[features_ * classes_ + k] += p[k];
    return std::log(sum) - logit;
  }

  std::span<const double> x_;
  const std::vector<std::int64_t>& labels_;
  const std::size_t features_, classes_;
  const double penalty_;
};

// The last steps, and how the gradient changed with each: from these L-BFGS estimates the curvature.
class Curvature {
 public:
  void add(Vector step, Vector change) {
    const double product = dot(step, change);
    if (product <= 1e-300) return;
    steps_.push_back({std::move(step), std::move(change), 1 / product});
    if (steps_.size() > 20) steps_.pop_front();
  }
  bool empty() const { return steps_.empty(); }
  void clear() { steps_.clear(); }

  // The direction of the next step, by Nocedal's two loops.
  Vector direction(const Vector& gradient) const {
    Vector q = plus(Vector(gradient.size()), -1, gradient), alphas(steps_.size());
    for (std::size_t i = steps_.size(); i-- > 0;) {
      alphas[i] = steps_[i].inverse * dot(steps_[i].step, q);
      q = plus(q, -alphas[i], steps_[i].change);
    }
    if (!empty()) {
      const Pair& last = steps_.back();
      const double scale = 1 / (last.inverse * dot(last.change, last.change));
      for (double& value : q) value *= scale;
    }
    for (std::size_t i = 0; i < steps_.size(); ++i)
      q = plus(q, alphas[i] - steps_[i].inverse * dot(steps_[i].change, q), steps_[i].step);
    return q;
  }

 private:
  struct Pair {
    Vector step, change;
    double inverse;
  };
  std::deque<Pair> steps_;
};

// Halves a step until it makes the objective smaller by enough (Armijo); false if none does.
bool take_step(const Objective& objective, Vector& w, double& value, Vector& gradient,
               const Vector& direction, double length) {
  const double slope = dot(gradient, direction);
  for (int halvings = 0; halvings < 50; ++halvings, length /= 2) {
    Vector next = plus(w, length, direction), next_gradient;
    const double next_value = objective(next, next_gradient);
    if (!(next_value <= value + 1e-4 * length * slope)) continue;
    w = std::move(next);
    value = next_value;
    gradient = std::move(next_gradient);
    return true;
  }
  return false;
}

}  // namespace

LinearScores fit_logistic_regression(const Tensor& features, const std::vector<std::int64_t>& labels,
                                     std::int64_t classes, double c) {
  const Objective objective(features, labels, classes, c);
  Vector w(objective.size()), gradient;
  double value = objective(w, gradient);
  Curvature curvature;
  const double enough = 1e-8 * static_cast<double>(labels.size());
  for (int step = 0; step < 2000 && largest_part(gradient) > enough; ++step) {
    const Vector before = w, gradient_before = gradient;
    const double length = curvature.empty() ? 1 / std::max(1.0, largest_part(gradient)) : 1;
    if (!take_step(objective, w, value, gradient, curvature.direction(gradient), length)) {
      if (curvature.empty()) break;  // as far as float64 goes
      curvature.clear();
      continue;
    }
    curvature.add(plus(w, -1, before), plus(gradient, -1, gradient_before));
  }
  const std::int64_t count = features.shape()[1];
  const auto biases = w.end() - static_cast<std::ptrdiff_t>(classes);
  return {Tensor::of<double>({count, classes}, {w.begin(), biases}),
          Tensor::of<double>({classes}, {biases, w.end()})};
}

}  // namespace actorflow
