// Updates of many variables by one launch on a GPU, for elementwise_optimizer.h: the updates of a small
// model's variables take a few microseconds each, which are those of the launch. For .cu files in a
// build with CUDA.
#pragma once

#include <algorithm>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "kernels/update/dense_update.h"
#include "kernels/update/state_change.h"

namespace actorflow::detail {

// Updates of some variables, as an argument of a kernel.
template <class T, class Rule, std::size_t places>
struct UpdateTable {
  struct Entry {
    Rule rule;
    const T* gradient;
    Places<T, places> state;
    std::int64_t elements;
  };
  static constexpr std::size_t bytes_of_arguments = 4096;
  static_assert(sizeof(Entry) <= bytes_of_arguments / 2,
                "the values of an optimizer's rule are too many");
  static constexpr std::size_t most = bytes_of_arguments / sizeof(Entry) - 1;
  Entry entries[most];
};

// The variable blockIdx.y.
template <class T, class Rule, std::size_t... part>
__global__ void __launch_bounds__(cuda_block_threads)
    update_variables(const __grid_constant__ UpdateTable<T, Rule, sizeof...(part)> table,
                     std::index_sequence<part...>) {
  const auto& entry = table.entries[blockIdx.y];
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < entry.elements; i += step)
    entry.rule(entry.gradient[i], carry(entry.state[part], i)...);
}

// Updates on their way.
template <class T, class O>
struct PreparedUpdate {
  VariableUpdate* update;
  StateUpdate<T, O> change;
};

// Of no more than fit into a table.
template <class T, class O>
void launch_updates(std::span<PreparedUpdate<T, O>> prepared, Device& device) {
  using Change = StateUpdate<T, O>;
  constexpr std::int64_t elements_per_block = 4 * cuda_block_threads, most_blocks = 1024;
  UpdateTable<T, typename Change::Rule, Change::Parts::size()> table{};
  std::int64_t most_elements = 1;
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    const Tensor& gradient = prepared[i].update->gradient;
    table.entries[i] = {prepared[i].change.rule(), static_cast<const T*>(gradient.data()),
                        prepared[i].change.places(), gradient.elements()};
    most_elements = std::max(most_elements, gradient.elements());
  }
  const auto blocks = std::min((most_elements - 1) / elements_per_block + 1, most_blocks);
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(prepared.size()));
  update_variables<<<grid, cuda_block_threads, 0, cuda_stream(device)>>>(table,
                                                                         typename Change::Parts());
  check_cuda(cudaGetLastError(), "launch updates");
}

// Those of the updates whose variables are of T, in as many launches as they need tables.
template <class T, class O>
void update_jointly(std::span<VariableUpdate> updates, Device& device) {
  using Change = StateUpdate<T, O>;
  constexpr std::size_t most = UpdateTable<T, typename Change::Rule, Change::Parts::size()>::most;
  std::vector<PreparedUpdate<T, O>> prepared;
  const auto fail = [](VariableUpdate& update) { update.failure = std::current_exception(); };
  const auto is_mine = [](const VariableUpdate& update) {
    return update.state->value.dtype() == dtype_of<T>;
  };
  try {
    prepared.reserve(updates.size());
  } catch (...) {
    for (VariableUpdate& update : updates)
      if (is_mine(update)) fail(update);
    return;
  }
  for (VariableUpdate& update : updates) try {
      if (is_mine(update))
        prepared.push_back(
            {&update, StateUpdate<T, O>(described<O>(update.values), *update.state, device)});
    } catch (...) {
      fail(update);
    }
  for (auto rest = std::span(prepared); !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), most));
    rest = rest.subspan(some.size());
    try {
      launch_updates<T, O>(some, device);
      for (auto& one : some) one.change.commit();
    } catch (...) {
      for (auto& one : some) fail(*one.update);
    }
  }
}

}  // namespace actorflow::detail
