#include "kernels/core/region.h"

#include <algorithm>
#include <map>
#include <utility>

#include "dataflow/graph/core_ops.h"
#include "kernels/core/node_error.h"
#include "kernels/core/region_kernel.h"

namespace actorflow {
namespace {

class PlainRegion final : public Kernel {
 public:
  explicit PlainRegion(RegionBody body) : body_(std::move(body)) {}
  void compute(OpContext& c) const override { run_plainly(body_, c); }

 private:
  RegionBody body_;
};

#ifdef ACTORFLOW_CUDA
// A graph takes three launches: inputs are copied in, it is launched, outputs are copied out.
bool is_worth_capturing(const Region& region) {
  constexpr std::ptrdiff_t least = 6;
  return std::ranges::count_if(region.body.nodes, [](const Node& node) {
           return node.op != &arg_op() && node.op != &const_op();
         }) >= least;
}
#endif

}  // namespace

bool runs_without_the_host(const Node& node) {
  const auto is_text = [](const TensorType& type) { return type.dtype == DType::string; };
  return !node.op->needs_host && std::ranges::none_of(node.outputs, is_text);
}

RegionBody::RegionBody(Region region, const OpLibrary& ops, DeviceType device)
    : region_(std::move(region)) {
  std::vector<std::size_t> first_output;
  const auto place_of = [&first_output](Edge edge) {
    return first_output[static_cast<std::size_t>(edge.node)] + static_cast<std::size_t>(edge.output);
  };
  for (const Node& node : region_.body.nodes) {
    first_output.push_back(frame_size_);
    frame_size_ += node.outputs.size();
    if (node.op == &arg_op()) {
      ++inputs_;
      continue;
    }
    Step step{&node, ops.make(node, device), {}, first_output.back(), {}};
    for (const Edge input : node.inputs) step.inputs.push_back({place_of(input), false});
    step.used.resize(node.outputs.size());
    steps_.push_back(std::move(step));
  }
  for (const Edge output : region_.outputs) outputs_.push_back({place_of(output), false});
  find_last_uses();
}

// Walks from the last node to the first: the first user of a tensor on this way is its last use.
void RegionBody::find_last_uses() {
  std::vector<bool> seen(frame_size_);
  const auto note = [&seen](Use& use) {
    use.last = !seen[use.place];
    seen[use.place] = true;
  };
  for (std::size_t i = outputs_.size(); i-- > 0;) note(outputs_[i]);
  for (std::size_t i = steps_.size(); i-- > 0;) {
    Step& step = steps_[i];
    for (std::size_t output = 0; output < step.used.size(); ++output)
      step.used[output] = seen[step.first_output + output];
    for (std::size_t input = step.inputs.size(); input-- > 0;) note(step.inputs[input]);
  }
}

std::vector<Tensor> RegionBody::run(std::span<const Tensor> given, Device& device, Team* team,
                                    const Interruption* interruption) const {
  std::vector<Tensor> frame(frame_size_), inputs, outputs;
  std::ranges::copy(given, frame.begin());
  const auto take = [&frame](const Use& use) {
    return use.last ? std::exchange(frame[use.place], {}) : frame[use.place];
  };
  for (const Step& step : steps_) {
    inputs.clear();
    for (const Use& use : step.inputs) inputs.push_back(take(use));
    outputs.assign(step.used.size(), {});
    OpContext context(*step.node, device, inputs, outputs, team, interruption);
    try {
      step.kernel->compute(context);
    } catch (const Error& error) {
      throw Error(error.code(), naming(*step.node, error.what()));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (step.used[i]) frame[step.first_output + i] = std::move(outputs[i]);
  }
  std::vector<Tensor> results;
  for (const Use& use : outputs_) results.push_back(take(use));
  return results;
}

void run_plainly(const RegionBody& body, OpContext& c) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.inputs(); ++i) inputs.push_back(c.input(i));
  auto outputs = body.run(inputs, c.device(), c.team(), c.interruption());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    c.set_output(static_cast<int>(i), std::move(outputs[i]));
}

std::atomic<std::uint64_t>& graph_launch_count() {
  static std::atomic<std::uint64_t> count{0};
  return count;
}

std::uint64_t graph_launches() { return graph_launch_count(); }

std::unique_ptr<Kernel> make_region(const Region& region, const OpLibrary& ops, DeviceType device) {
#ifdef ACTORFLOW_CUDA
  if (device == DeviceType::cuda && is_worth_capturing(region)) return make_captured_region(region, ops);
#endif
  return std::make_unique<PlainRegion>(RegionBody(region, ops, device));
}

}  // namespace actorflow
