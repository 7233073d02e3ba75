#include "kernels/core/crash_report.h"

#include <cxxabi.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string_view>
#include <typeinfo>

#include "dataflow/graph/graph.h"
#include "dataflow/values/error.h"
#include "kernels/core/computing.h"

namespace actorflow {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10;
constexpr std::array crashes{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// Text for one write(2): the handler may call only what is async-signal-safe.
class Text {
 public:
  Text& operator<<(std::string_view text) {
    const std::size_t size = std::min(text.size(), buffer_.size() - size_);
    std::memcpy(buffer_.data() + size_, text.data(), size);
    size_ += size;
    return *this;
  }
  Text& number(std::uint64_t value, unsigned base) {
    std::array<char, 64> digits;
    std::size_t first = digits.size();
    do digits[--first] = "0123456789abcdef"[value % base];
    while ((value /= base) > 0);
    return *this << std::string_view(digits.data() + first, digits.size() - first);
  }
  void print() {
    // A failure cannot be reported to anybody.
    if (write(STDERR_FILENO, buffer_.data(), size_) < 0) return;
  }

 private:
  std::array<char, 2048> buffer_;
  std::size_t size_ = 0;
};

std::string_view name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV, an access to memory that is not there";
    case SIGBUS:
      return "SIGBUS, an access to memory that cannot be read";
    case SIGILL:
      return "SIGILL, an instruction that this CPU does not have";
    case SIGFPE:
      return "SIGFPE, a division that has no result";
    default:
      return "SIGABRT, an assertion";
  }
}

// Whether the signal was sent by kill() or the like: si_code says so.
bool was_sent(const siginfo_t& info) { return info.si_code <= 0; }

void add_cause(Text& text, int signal, const siginfo_t& info) {
  text << "\nactorflow: crashed by " << name_of(signal);
  if (!was_sent(info)) {
    text << ", at address 0x";
    text.number(reinterpret_cast<std::uintptr_t>(info.si_addr), 16);
  } else if (info.si_pid != getpid()) {
    text << ", sent by process ";
    text.number(static_cast<std::uint64_t>(info.si_pid), 10);
  }
  text << "\n";
}

// The innermost device or task that is known. A node within a kernel's work may have none of its own.
std::string_view place_of(const Computing* computing) {
  for (; computing && (computing->node() || computing->work()); computing = computing->outer()) {
    const auto& place = computing->node() ? computing->node()->device : computing->work()->task;
    if (!place.empty()) return place;
  }
  return {};
}

// The innermost node or work.
void add_computation(Text& text) {
  const Computing* computing = Computing::on_this_thread();
  if (!computing || (!computing->node() && !computing->work())) {
    text << "  while this thread computed no node\n";
    return;
  }
  if (const Node* node = computing->node())
    text << "  while it computed node '" << node->name << "' (" << node->op->name << ")";
  else
    text << "  while it computed " << computing->work()->what;
  if (const auto place = place_of(computing); !place.empty()) text << " on " << place;
  text << "\n";
}

void print_report(int signal, const siginfo_t& info) {
  Text text;
  add_cause(text, signal, info);
  add_computation(text);
  text << "  called from:\n";
  text.print();
  std::array<void*, 48> frames;
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), static_cast<int>(frames.size())),
                       STDERR_FILENO);
  Text end;
  end << "Please report this text, with the command and `actorflow version`, to the maintainers of "
         "Actorflow\n(README.md, \"When it crashes\").\n";
  end.print();
}

// The first thread that crashes reports; others wait for the end of the process, but not for ever.
std::atomic<pid_t> reporting{0};

bool is_first(pid_t thread) {
  pid_t nobody = 0;
  return reporting.compare_exchange_strong(nobody, thread);
}

void wait_for_the_end() {
  constexpr int seconds = 5;
  timespec left{seconds, 0};
  nanosleep(&left, nullptr);
}

void on_crash(int signal, siginfo_t* info, void*) {
  const pid_t thread = gettid();
  if (is_first(thread))
    print_report(signal, *info);
  else if (reporting != thread)  // else the report itself has crashed
    wait_for_the_end();
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  sigaction(signal, &by_default, nullptr);
  // A signal that the CPU has raised comes again when the instruction is tried again, and the core dump
  // shows its place.
  if (was_sent(*info)) raise(signal);
}

std::terminate_handler inherited = nullptr;

// An Error that the main thread does not catch is the program's to mend, not ours: what it says is
// printed, but no report.
[[noreturn]] void on_terminate() {
  const std::type_info* thrown = abi::__cxa_current_exception_type();
  if (thrown && *thrown == typeid(Error) && gettid() == getpid()) signal(SIGABRT, SIG_DFL);
  inherited();
  std::abort();
}

void install(int signal) {
  struct sigaction present {};
  if (sigaction(signal, nullptr, &present) != 0) return;
  if ((present.sa_flags & SA_SIGINFO) != 0 || present.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

// The memory, or null.
void* use_signal_stack() {
  stack_t present{};
  if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return nullptr;
  void* memory = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = stack_bytes;
  if (sigaltstack(&stack, nullptr) == 0) return memory;
  munmap(memory, stack_bytes);
  return nullptr;
}

}  // namespace

void report_crashes() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Its first call loads a library, which a handler may not.
    void* frame = nullptr;
    backtrace(&frame, 1);
    use_signal_stack();  // mostly of main, and for good
    for (const int signal : crashes) install(signal);
    inherited = std::set_terminate(on_terminate);
  });
}

SignalStack::SignalStack() : memory_(use_signal_stack()) {}

SignalStack::~SignalStack() {
  if (!memory_) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  munmap(memory_, stack_bytes);
}

}  // namespace actorflow
