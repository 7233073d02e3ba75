// The ways of a large tensor to another task: shared memory, with and without a copy, and the stream.
#include <sys/mman.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "dataflow/values/borrowed_buffer.h"
#include "schema/io/shared_memory.h"
#include "schema/io/shared_place.h"
#include "test/schema/support/tasks.h"
#include "test/support/no_descriptors.h"

BOOST_AUTO_TEST_SUITE(tensor_paths)

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// Two networks, as in two processes.
struct Tasks {
  Tasks(std::size_t shared_by_sender, std::size_t taken_by_receiver)
      : Tasks({.shared_memory_bytes = shared_by_sender}, {.shared_memory_bytes = taken_by_receiver}) {}
  explicit Tasks(std::size_t shared_memory_bytes) : Tasks(shared_memory_bytes, shared_memory_bytes) {}
  Tasks(const RpcOptions& sender_options, const RpcOptions& receiver_options)
      : ours(make_rpc_network(ops(), heap(), sender_options)),
        theirs(make_rpc_network(ops(), heap(), receiver_options)) {}

  void send(const Tensor& tensor) { sender.link->send(TensorDelivery{1, 2, tensor}); }
  Tensor take() {
    const auto message = receiver.messages.take();
    BOOST_REQUIRE(message);
    return std::get<TensorDelivery>(*message).tensor;
  }
  Tensor round_trip(const Tensor& tensor) {
    send(tensor);
    return take();
  }
  TensorPath path() const { return sender.link->tensor_path(); }

  std::unique_ptr<Network> ours, theirs;
  Receiver receiver{*theirs, task("ps", 0)};
  Sender sender{*ours, receiver.address(), task("worker", 1), {"ps", 0}};
};

Tensor counting_bytes(std::int64_t size) {
  Tensor tensor = Tensor::allocate(DType::uint8, {size});
  std::uint8_t value = 0;
  for (auto& element : tensor.mutable_values<std::uint8_t>())
    element = value = static_cast<std::uint8_t>(value * 5 + 1);
  return tensor;
}

// In memory of the sender's: nobody else may change it.
bool in_shared_memory(const Tensor& received) { return !received.exclusive(); }

}  // namespace

BOOST_AUTO_TEST_CASE(shared_memory_is_found_and_the_stream_taken_where_either_side_has_none) {
  const Tensor tensor = counting(1 << 20);
  for (const auto& [sender, receiver] :
       {std::pair{64 * mebibyte, 64 * mebibyte}, {std::size_t{0}, 64 * mebibyte}, {64 * mebibyte, 0}}) {
    Tasks tasks(sender, receiver);
    BOOST_TEST((tasks.path() == TensorPath::none));
    const Tensor received = tasks.round_trip(tensor);
    BOOST_TEST(identical(received, tensor));
    const bool shared = sender > 0 && receiver > 0;
    BOOST_TEST((tasks.path() == (shared ? TensorPath::shared_memory : TensorPath::stream)));
    BOOST_TEST(in_shared_memory(received) == shared);
  }
}

BOOST_AUTO_TEST_CASE(messages_of_all_sizes_arrive_by_every_path) {
  for (const std::size_t shared_memory_bytes : {std::size_t{0}, 1 * mebibyte, 64 * mebibyte}) {
    Tasks tasks(shared_memory_bytes);
    for (const std::int64_t size :
         {65'407, 65'408, 65'409, 70'001, 1'048'575, 1'048'576, 1'048'577, 2'097'153, 3'145'733}) {
      const Tensor tensor = counting_bytes(size);
      BOOST_TEST(identical(tasks.round_trip(tensor), tensor), size);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_message_with_many_tensors_arrives_by_every_path) {
  // The second has room for some of the tensors only.
  for (const std::size_t shared_memory_bytes : {std::size_t{0}, 4 * mebibyte, 64 * mebibyte}) {
    Tasks tasks(shared_memory_bytes);
    RunGraph run{5, 9, 0, {}};
    for (std::int32_t i = 0; i < 300; ++i) run.args.emplace_back(i, counting(100 * i));
    run.args.emplace_back(300, Tensor::of<std::string>({2}, {std::string(3'000'000, 'x'), ""}));
    run.args.emplace_back(301, Tensor());
    tasks.sender.link->send(run);
    const auto message = tasks.receiver.messages.take();
    BOOST_REQUIRE(message);
    const auto& received = std::get<RunGraph>(*message);
    BOOST_REQUIRE(received.args.size() == run.args.size());
    for (std::size_t i = 0; i + 1 < run.args.size(); ++i)
      BOOST_TEST(identical(received.args[i].second, run.args[i].second));
    BOOST_TEST(!received.args.back().second.valid());
  }
}

BOOST_AUTO_TEST_CASE(a_tensor_of_the_networks_allocator_is_not_copied) {
  Tasks tasks(64 * mebibyte);
  Tensor tensor = Tensor::zeros(DType::float32, {1 << 20}, tasks.ours->allocator());
  const Tensor received = tasks.round_trip(tensor);
  BOOST_TEST(!tensor.exclusive());  // as long as the receiver reads it
  // Against the rules, but it shows whose memory that is.
  tensor.mutable_values<float>()[12345] = 1;
  BOOST_TEST(received.values<float>()[12345] == 1);
}

BOOST_AUTO_TEST_CASE(an_aligned_part_of_such_a_tensor_is_not_copied_either) {
  for (const std::size_t begin : {std::size_t{64}, std::size_t{4}}) {
    Tasks tasks(64 * mebibyte);
    Tensor tensor = Tensor::zeros(DType::float32, {1 << 20}, tasks.ours->allocator());
    constexpr std::int64_t count = 1 << 18;
    const Tensor part(DType::float32, {count}, part_of(tensor.buffer(), begin, count * sizeof(float)));
    const Tensor received = tasks.round_trip(part);
    BOOST_TEST(identical(received, part));
    tensor.mutable_values<float>()[begin / sizeof(float) + 12345] = 1;
    BOOST_TEST(received.values<float>()[12345] == (begin % buffer_alignment == 0 ? 1.0F : 0.0F));
  }
}

BOOST_AUTO_TEST_CASE(what_lies_beside_a_tensor_that_has_travelled_is_read_where_it_is) {
  Tasks tasks(64 * mebibyte);
  const Tensor block = Tensor::zeros(DType::float32, {1 << 16}, tasks.ours->allocator());
  const Tensor beside = counting(1 << 16).clone(tasks.ours->allocator());
  const BufferRef received = tasks.round_trip(block).buffer();
  const auto place = place_of(beside.buffer(), block.buffer());
  BOOST_REQUIRE(place.has_value());
  const Tensor seen(DType::float32, {1 << 16}, bytes_at(*place, beside.size_bytes(), received));
  BOOST_TEST(identical(seen, beside));
  BOOST_TEST(seen.data() != beside.data());
  BOOST_TEST(!seen.exclusive());
  const Tensor elsewhere = counting(100);
  BOOST_TEST(!place_of(elsewhere.buffer(), block.buffer()).has_value());
  BOOST_TEST(!place_of(beside.buffer(), elsewhere.buffer()).has_value());
  BOOST_CHECK_THROW(bytes_at(64 * mebibyte, 64, received), Error);
  BOOST_CHECK_THROW(bytes_at(0, 64, block.buffer()), Error);
  BOOST_CHECK_THROW(bytes_at(0, 64, elsewhere.buffer()), Error);
}

BOOST_AUTO_TEST_CASE(a_tensor_from_the_stream_is_the_receivers_own) {
  Tasks tasks(0);
  BOOST_TEST(tasks.round_trip(counting(1 << 20)).exclusive());
}

BOOST_AUTO_TEST_CASE(shared_memory_that_the_receiver_has_let_go_is_used_again) {
  // The next tensor waits until the one before it has been given back.
  const RpcOptions options{.window_bytes = mebibyte, .shared_memory_bytes = 4 * mebibyte};
  Tasks tasks(options, options);
  for (int i = 0; i < 50; ++i) BOOST_REQUIRE(in_shared_memory(tasks.round_trip(counting(3 << 18))));
}

// Four of them are more than the window, which would not grow.
BOOST_AUTO_TEST_CASE(what_is_kept_need_not_count_and_stays_as_it_is) {
  const RpcOptions options{
      .window_bytes = mebibyte, .window_patience_ms = 600'000, .shared_memory_bytes = 16 * mebibyte};
  Tasks tasks(options, options);
  std::vector<Tensor> kept;
  for (std::uint8_t i = 0; i < 4; ++i) {
    kept.push_back(tasks.round_trip(Tensor::of<std::uint8_t>({600'000}, std::vector(600'000, i))));
    BOOST_TEST(stop_counting(kept.back().buffer()));
    BOOST_TEST(stop_counting(kept.back().buffer()));
  }
  tasks.sender.link.reset();
  BOOST_REQUIRE(tasks.receiver.gone.take());
  Sender again(*tasks.ours, tasks.receiver.address(), task("worker", 1), {"ps", 0});
  again.link->send(TensorDelivery{1, 2, counting(150'000)});
  tasks.take();
  for (std::uint8_t i = 0; i < 4; ++i)
    BOOST_TEST(identical(kept[i], Tensor::of<std::uint8_t>({600'000}, std::vector(600'000, i))));
  BOOST_TEST(!stop_counting(counting(150'000).buffer()));
}

BOOST_AUTO_TEST_CASE(where_shared_memory_is_full_the_stream_is_taken) {
  Tasks tasks(4 * mebibyte);
  const Tensor tensor = counting(3 << 18);
  const Tensor first = tasks.round_trip(tensor), second = tasks.round_trip(tensor);
  BOOST_TEST(in_shared_memory(first));
  BOOST_TEST(!in_shared_memory(second));
  BOOST_TEST(identical(first, tensor));
  BOOST_TEST(identical(second, tensor));
}

BOOST_AUTO_TEST_CASE(what_a_receiver_still_reads_is_not_written_over_when_the_link_has_ended) {
  Tasks tasks(4 * mebibyte);
  const Tensor tensor = counting(3 << 18);
  const Tensor received = tasks.round_trip(tensor);
  BOOST_REQUIRE(in_shared_memory(received));
  tasks.sender.link.reset();
  BOOST_REQUIRE(tasks.receiver.gone.take());
  for (int i = 0; i < 3; ++i) {
    Sender again(*tasks.ours, tasks.receiver.address(), task("worker", 1), {"ps", 0});
    again.link->send(TensorDelivery{1, 2, Tensor::zeros(DType::float32, {3 << 18})});
    tasks.take();
    BOOST_TEST(identical(received, tensor));
  }
}

BOOST_AUTO_TEST_CASE(an_arena_gives_out_aligned_blocks_joins_its_gaps_and_ends_where_it_is_full) {
  const auto arena = SharedArena::create(1 * mebibyte);
  BOOST_REQUIRE(arena);
  std::vector<BufferRef> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(arena->try_allocate(mebibyte / 4));
  for (const auto& block : blocks) {
    BOOST_REQUIRE(arena->holds(block));
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(block->data()) % buffer_alignment == 0u);
  }
  BOOST_TEST(!arena->try_allocate(1));
  BOOST_TEST(!arena->holds(arena->allocate(1)));  // of the heap then
  for (const std::size_t i : {1, 3, 0, 2}) blocks[i] = {};
  BOOST_TEST(arena->bytes_in_use() == 0u);
  BOOST_TEST(bool(arena->try_allocate(mebibyte)));
  BOOST_TEST(!arena->try_allocate(mebibyte + 1));
}

BOOST_AUTO_TEST_CASE(a_view_checks_seals_and_places) {
  const auto arena = SharedArena::create(1 * mebibyte);
  BOOST_REQUIRE(arena);
  const SharedView view(arena->file());
  BOOST_CHECK_NO_THROW(view.at(mebibyte - 64, 64));
  for (const auto& [place, size] : {std::pair{std::uint64_t{1}, std::size_t{8}},
                                    {mebibyte - 64, 65},
                                    {mebibyte + 64, 1},
                                    {~std::uint64_t{63}, 64},
                                    {64, ~std::size_t{0}}})
    BOOST_CHECK_THROW(view.at(place, size), Error);
  const FileDescriptor unsealed(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  BOOST_REQUIRE(ftruncate(unsealed.get(), 4096) == 0);
  BOOST_CHECK_THROW(SharedView{unsealed.get()}, Error);
  BOOST_CHECK_THROW(SharedView{-1}, Error);
}

BOOST_AUTO_TEST_CASE(nobody_can_shrink_grow_or_write_a_sealed_arena) {
  const auto arena = SharedArena::create(1 * mebibyte);
  BOOST_REQUIRE(arena);
  BOOST_TEST(ftruncate(arena->file(), 4096) != 0);
  BOOST_TEST(ftruncate(arena->file(), 2 * mebibyte) != 0);
  BOOST_TEST((mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, arena->file(), 0) == MAP_FAILED));
}

// The first large message opens a connection of its own.
BOOST_AUTO_TEST_CASE(a_large_tensor_that_lacks_a_descriptor_does_not_make_its_receiver_a_lost_task) {
  Tasks tasks(0);
  BOOST_REQUIRE(tasks.sender.up.take());
  const NoDescriptors any_more;
  tasks.send(counting(1 << 20));
  const auto down = tasks.sender.down.take();
  BOOST_REQUIRE(down);
  BOOST_TEST((down->code == Code::resource_exhausted), down->to_string());
}

BOOST_AUTO_TEST_SUITE_END()
