#include "schema/io/leases.h"

#include <utility>

#include "dataflow/values/borrowed_buffer.h"
#include "schema/io/shared_place.h"

namespace actorflow {
namespace {

// Bytes of another process that nobody has lent.
class Seen final : public Buffer {
 public:
  Seen(std::shared_ptr<const SharedView> view, std::uint64_t place, std::size_t size_bytes)
      : Buffer(view->at(place, size_bytes), size_bytes, borrower(), Access::read_only),
        view_(std::move(view)) {}

 private:
  const std::shared_ptr<const SharedView> view_;
};

}  // namespace

class Leases::Leased final : public Buffer {
 public:
  Leased(std::uint64_t number, std::size_t size_bytes, BufferRef storage)
      : Buffer(storage->data(), size_bytes, borrower()), number_(number), storage_(std::move(storage)) {}
  Leased(std::uint64_t number, std::size_t size_bytes, std::shared_ptr<const SharedView> view,
         std::uint64_t place)
      : Buffer(view->at(place, size_bytes), size_bytes, borrower(), Access::read_only),
        number_(number),
        view_(std::move(view)) {}
  ~Leased() override {
    storage_ = {};
    if (leases) leases->give_back(number_, counts ? size_bytes() : 0);
  }

  const std::shared_ptr<const SharedView>& view() const { return view_; }

  std::uint64_t number() const { return number_; }

  std::shared_ptr<Leases> leases;
  bool counts = true;  // guarded by their mutex

 private:
  const std::uint64_t number_;
  BufferRef storage_;
  std::shared_ptr<const SharedView> view_;
};

BufferRef Leases::lend(std::uint64_t number, std::size_t size_bytes, BufferRef storage) {
  return add(std::make_unique<Leased>(number, size_bytes, std::move(storage)));
}

BufferRef Leases::lend(std::uint64_t number, std::size_t size_bytes,
                       std::shared_ptr<const SharedView> view, std::uint64_t place) {
  return add(std::make_unique<Leased>(number, size_bytes, std::move(view), place));
}

std::shared_ptr<const SharedView> Leases::view_of(const BufferRef& buffer) {
  const auto* leased = dynamic_cast<const Leased*>(buffer.get());
  return leased ? leased->view() : nullptr;
}

bool Leases::stop_counting(const BufferRef& buffer) {
  auto* leased = dynamic_cast<Leased*>(buffer.get());
  if (!leased || !leased->view()) return false;
  Leases& all = *leased->leases;
  const std::lock_guard lock(all.mutex_);
  if (std::exchange(leased->counts, false))
    all.tell_sender(leased->number() | lives_on, leased->size_bytes());
  return true;
}

void Leases::decline(std::uint64_t number, std::size_t size_bytes) {
  expect(size_bytes);
  give_back(number, size_bytes);
}

BufferRef Leases::add(std::unique_ptr<Leased> leased) {
  expect(leased->size_bytes());
  leased->leases = shared_from_this();
  return BufferRef(leased.release());
}

// Makes room for its number, for when it ends and for when it ceases to count: at its end nothing may
// fail.
void Leases::expect(std::size_t size_bytes) {
  const std::lock_guard lock(mutex_);
  if (const auto most = 2 * (payloads_ + 1); numbers_.capacity() < most) numbers_.reserve(2 * most);
  bytes_ += size_bytes;
  ++payloads_;
}

void Leases::give_back(std::uint64_t number, std::size_t size_bytes) {
  const std::lock_guard lock(mutex_);
  ++returned_payloads_;
  tell_sender(number, size_bytes);
}

// REQUIRES: the mutex is held. Without memory for it the loop is told with the next number.
void Leases::tell_sender(std::uint64_t number, std::size_t size_bytes) noexcept {
  numbers_.push_back(number);
  returned_bytes_ += size_bytes;
  if (told_ || !loop_) return;
  try {
    tell_loop();
    told_ = true;
  } catch (...) {
  }
}

void Leases::tell_loop() {
  loop_->post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    {
      // Whom returned_ calls may have left; payloads elsewhere keep us. He detaches on the loop.
      const std::lock_guard still_attached(self->mutex_);
      if (!self->loop_) return;
    }
    self->returned_();
  });
}

std::vector<std::uint64_t> Leases::take_returned() {
  const std::lock_guard lock(mutex_);
  told_ = false;
  std::vector<std::uint64_t> taken(numbers_);
  numbers_.clear();  // and keeps its room
  bytes_ -= std::exchange(returned_bytes_, 0);
  payloads_ -= std::exchange(returned_payloads_, 0);
  return taken;
}

std::size_t Leases::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

bool Leases::empty() const {
  const std::lock_guard lock(mutex_);
  return payloads_ == 0;
}

void Leases::detach() {
  const std::lock_guard lock(mutex_);
  loop_ = nullptr;
}

std::optional<std::uint64_t> place_of(const BufferRef& bytes, const BufferRef& block) {
  const auto* arena = block ? dynamic_cast<const SharedArena*>(&block->owner()) : nullptr;
  if (!arena || !arena->holds(bytes)) return {};
  return arena->place_of(bytes);
}

BufferRef bytes_at(std::uint64_t place, std::size_t size_bytes, const BufferRef& block) {
  auto view = Leases::view_of(block);
  if (!view) throw invalid_argument("a place beside what is no shared memory of another process");
  return BufferRef(new Seen(std::move(view), place, size_bytes));
}

bool stop_counting(const BufferRef& block) { return Leases::stop_counting(block); }

}  // namespace actorflow
