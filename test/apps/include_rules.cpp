// Holds the layers: which folder, and which room in it, includes which; and which folder may include
// which library.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

BOOST_AUTO_TEST_SUITE(include_rules)

namespace {

namespace fs = std::filesystem;
using Folders = std::set<std::string, std::less<>>;

const std::map<std::string, Folders, std::less<>> folders_below = {
    {"dataflow", {"dataflow"}},
    {"kernels", {"dataflow", "kernels"}},
    {"schema", {"dataflow", "schema"}},
    {"actors", {"dataflow", "kernels", "schema", "actors"}},
    {"apps", {"dataflow", "kernels", "schema", "actors", "apps"}},
};

// Folders have rooms. A room may include itself and those named here, each of which has an earlier row:
// so no two include each other. A folder within a room belongs to it, unless it is a room itself.
const std::vector<std::pair<std::string, Folders>> rooms = {
    {"dataflow/values", {}},
    {"dataflow/cluster", {"dataflow/values"}},
    {"dataflow/graph", {"dataflow/cluster", "dataflow/values"}},
    {"dataflow/collectives", {"dataflow/values"}},
    {"dataflow/ops", {"dataflow/cluster", "dataflow/collectives", "dataflow/graph", "dataflow/values"}},
    {"dataflow/transform", {"dataflow/cluster", "dataflow/graph", "dataflow/values"}},
    {"dataflow/train",
     {"dataflow/cluster", "dataflow/collectives", "dataflow/graph", "dataflow/ops", "dataflow/values"}},
    {"dataflow/jobs", {}},

    {"kernels", {}},
    {"kernels/devices", {}},
    {"kernels/shuffle", {}},
    {"kernels/core", {"kernels/devices"}},
    {"kernels/loops", {"kernels/core", "kernels/devices"}},
    {"kernels/update", {"kernels", "kernels/core", "kernels/devices", "kernels/loops"}},
    {"kernels/library", {"kernels/core", "kernels/devices", "kernels/update"}},
    {"kernels/eager",
     {"kernels", "kernels/core", "kernels/devices", "kernels/library", "kernels/update"}},
    {"kernels/products", {"kernels", "kernels/core", "kernels/devices", "kernels/loops"}},
    {"kernels/images",
     {"kernels", "kernels/core", "kernels/devices", "kernels/loops", "kernels/products"}},
    {"kernels/ops", {"kernels", "kernels/core", "kernels/devices", "kernels/loops"}},
    {"kernels/rows", {"kernels", "kernels/core", "kernels/devices", "kernels/loops", "kernels/ops"}},
    {"kernels/attention",
     {"kernels", "kernels/core", "kernels/devices", "kernels/loops", "kernels/products"}},
    {"kernels/recurrent",
     {"kernels", "kernels/core", "kernels/devices", "kernels/loops", "kernels/products"}},
    {"kernels/control", {"kernels", "kernels/core", "kernels/devices"}},

    {"schema", {}},
    {"schema/codec", {"schema"}},
    {"schema/command_line", {}},
    {"schema/records", {}},
    {"schema/formats", {"schema", "schema/records"}},
    {"schema/parquet", {"schema/records"}},
    {"schema/onnx", {}},
    {"schema/tls", {"schema"}},
    {"schema/io", {"schema", "schema/codec", "schema/tls"}},
    {"schema/rpc", {"schema", "schema/codec", "schema/io", "schema/tls"}},
    {"schema/environment", {"schema", "schema/codec", "schema/io"}},

    {"actors/probes", {}},
    {"actors/runtime", {"actors/probes"}},
    {"actors/core", {"actors/probes", "actors/runtime"}},
    {"actors/checkpoint/files", {"actors/core", "actors/runtime"}},
    {"actors/events", {"actors/runtime"}},
    {"actors/input", {"actors/core", "actors/runtime"}},
    {"actors/queues", {"actors/core", "actors/input", "actors/runtime"}},
    {"actors/training", {"actors/core", "actors/probes", "actors/runtime"}},
    {"actors/shard",
     {"actors/checkpoint/files", "actors/core", "actors/probes", "actors/runtime", "actors/training"}},
    {"actors/worker", {"actors/core", "actors/probes", "actors/runtime"}},
    {"actors/master", {"actors/core", "actors/runtime"}},
    {"actors/named", {"actors/core", "actors/probes", "actors/runtime"}},
    {"actors/collectives/operation", {"actors/core", "actors/probes"}},
    {"actors/collectives/engine",
     {"actors/collectives/operation", "actors/core", "actors/named", "actors/probes", "actors/runtime"}},
    {"actors/task",
     {"actors/checkpoint/files", "actors/collectives/engine", "actors/core", "actors/input",
      "actors/master", "actors/named", "actors/probes", "actors/queues", "actors/runtime",
      "actors/shard", "actors/training", "actors/worker"}},
    {"actors/client", {"actors/core", "actors/input", "actors/runtime", "actors/task"}},
    {"actors/collectives",
     {"actors/collectives/engine", "actors/collectives/operation", "actors/core", "actors/named",
      "actors/runtime", "actors/task"}},
    {"actors/checkpoint",
     {"actors/checkpoint/files", "actors/client", "actors/probes", "actors/runtime"}},
    {"actors/export", {"actors/client", "actors/runtime"}},
    {"actors/import", {"actors/client", "actors/export", "actors/runtime"}},
    {"actors/jobs/messages", {"actors/core", "actors/named"}},
    {"actors/jobs/slices", {"actors/core", "actors/jobs/messages", "actors/probes", "actors/runtime"}},
    {"actors/jobs/engine/parts",
     {"actors/core", "actors/jobs/messages", "actors/jobs/slices", "actors/runtime"}},
    {"actors/jobs/engine/journal",
     {"actors/core", "actors/jobs/messages", "actors/probes", "actors/runtime"}},
    {"actors/jobs/engine/agent",
     {"actors/jobs/engine/journal", "actors/jobs/engine/parts", "actors/jobs/messages",
      "actors/jobs/slices", "actors/probes", "actors/runtime"}},
    {"actors/jobs/engine",
     {"actors/core", "actors/jobs/engine/agent", "actors/jobs/engine/journal",
      "actors/jobs/engine/parts", "actors/jobs/messages", "actors/jobs/slices", "actors/named",
      "actors/probes", "actors/runtime"}},
    {"actors/jobs/context", {"actors/jobs/engine", "actors/jobs/engine/parts"}},
    {"actors/jobs/pipes", {"actors/jobs/context"}},
    {"actors/jobs/parquet", {"actors/jobs/engine/parts", "actors/runtime"}},
    {"actors/jobs/sources",
     {"actors/input", "actors/jobs/context", "actors/jobs/parquet", "actors/runtime"}},
    {"actors/jobs/sinks", {"actors/jobs/context", "actors/jobs/engine/parts"}},
    {"actors/jobs/sorting", {"actors/jobs/context", "actors/jobs/engine/parts"}},
    {"actors/jobs/outputs", {"actors/jobs/context", "actors/jobs/engine", "actors/jobs/sorting"}},
    {"actors/jobs/partitions", {"actors/jobs/pipes", "actors/jobs/sinks", "actors/jobs/sorting"}},
    {"actors/jobs",
     {"actors/jobs/context", "actors/jobs/engine", "actors/jobs/outputs", "actors/jobs/partitions",
      "actors/jobs/pipes", "actors/jobs/sinks", "actors/jobs/sorting", "actors/jobs/sources",
      "actors/runtime", "actors/task"}},
    {"actors/jobs/program",
     {"actors/jobs", "actors/jobs/context", "actors/jobs/engine", "actors/runtime", "actors/task"}},
    {"actors/jobs/tensors",
     {"actors/input", "actors/jobs", "actors/jobs/engine", "actors/jobs/pipes", "actors/jobs/slices",
      "actors/runtime", "actors/task"}},
    {"actors/monitored",
     {"actors/checkpoint", "actors/client", "actors/events", "actors/probes", "actors/runtime",
      "actors/task"}},
    {"actors/strategies",
     {"actors/checkpoint", "actors/client", "actors/monitored", "actors/named", "actors/runtime",
      "actors/task"}},
    {"actors/layers", {}},
    {"actors/eager", {"actors/checkpoint", "actors/collectives", "actors/layers", "actors/runtime"}},
    {"actors/models/network", {"actors/layers"}},
    {"actors/models/pipeline",
     {"actors/client", "actors/layers", "actors/models/network", "actors/runtime", "actors/task"}},
    {"actors/models/logs", {"actors/client", "actors/layers", "actors/runtime"}},
    {"actors/models/data",
     {"actors/client", "actors/input", "actors/models/network", "actors/runtime", "actors/task"}},
    {"actors/models/images", {"actors/input", "actors/layers", "actors/models/network"}},
    {"actors/models/preprocessing", {"actors/input", "actors/layers", "actors/runtime"}},
    {"actors/models",
     {"actors/checkpoint", "actors/client", "actors/events", "actors/export", "actors/input",
      "actors/layers", "actors/models/data", "actors/models/logs", "actors/models/network",
      "actors/models/pipeline", "actors/monitored", "actors/runtime", "actors/strategies",
      "actors/task"}},
    {"actors/models/fit/callbacks",
     {"actors/checkpoint", "actors/events", "actors/models", "actors/models/logs", "actors/monitored",
      "actors/runtime"}},
    {"actors/models/text",
     {"actors/input", "actors/layers", "actors/models", "actors/models/network", "actors/runtime"}},
    {"actors/estimator",
     {"actors/checkpoint", "actors/client", "actors/events", "actors/export", "actors/input",
      "actors/layers", "actors/models", "actors/models/data", "actors/models/logs", "actors/monitored",
      "actors/runtime", "actors/strategies", "actors/task"}},
    {"actors/ensembles",
     {"actors/checkpoint", "actors/export", "actors/input", "actors/jobs", "actors/jobs/engine",
      "actors/layers", "actors/models", "actors/models/logs", "actors/models/network", "actors/runtime",
      "actors/strategies", "actors/task"}},
    {"actors/simulation/world", {"actors/probes", "actors/runtime"}},
    {"actors/simulation",
     {"actors/core", "actors/probes", "actors/runtime", "actors/simulation/world", "actors/task"}},
    {"actors",
     {"actors/checkpoint", "actors/client", "actors/collectives", "actors/eager", "actors/estimator",
      "actors/events", "actors/export", "actors/import", "actors/layers", "actors/models",
      "actors/models/preprocessing", "actors/monitored", "actors/named", "actors/strategies",
      "actors/task"}},

    {"apps/usage", {}},
    {"apps/launch", {}},
    {"apps/launch/elastic", {"apps/launch"}},
    {"apps/launch/keeper", {"apps/launch"}},
    {"apps/launch/run", {"apps/launch", "apps/launch/elastic", "apps/launch/keeper"}},
    {"apps/launch/deploy", {"apps/launch", "apps/usage"}},
    {"apps/plots", {}},
    {"apps/jobs", {}},
    {"apps/training/data", {}},
    {"apps/training/models", {"apps/training/data"}},
    {"apps/training/reports", {"apps/launch", "apps/plots", "apps/training/data"}},
    {"apps/training", {"apps/training/data", "apps/training/models", "apps/training/reports"}},
    {"apps/cli",
     {"apps/launch", "apps/training", "apps/training/data", "apps/training/models",
      "apps/training/reports", "apps/usage"}},
    {"apps/ensembles",
     {"apps/cli", "apps/plots", "apps/training/data", "apps/training/models", "apps/training/reports"}},
    {"apps/scenario",
     {"apps/cli", "apps/jobs", "apps/training", "apps/training/data", "apps/training/models",
      "apps/training/reports"}},
    {"apps/rehearsal", {"apps/cli", "apps/scenario"}},
    {"apps/commands",
     {"apps/cli", "apps/launch", "apps/launch/deploy", "apps/launch/keeper", "apps/launch/run",
      "apps/rehearsal", "apps/scenario", "apps/training", "apps/training/data", "apps/training/models",
      "apps/training/reports", "apps/usage"}},
    {"apps",
     {"apps/cli", "apps/commands", "apps/ensembles", "apps/jobs", "apps/training", "apps/training/data",
      "apps/training/models", "apps/training/reports"}},
};
constexpr std::size_t most_files_of_a_room = 40;
// At their top lies one header: what programs include.
const Folders folders_with_a_face = {"kernels", "actors"};

// The beginning of a library's headers, and the production folders that may include them.
const std::vector<std::pair<std::string, Folders>> libraries = {
    {"caf/", {"actors"}},
    {"sanitizer/", {"actors"}},   // the simulation's fibers tell it of their
                                  // stacks
    {"boost/test/", {"actors"}},  // SIMULATION_TEST
    {"capnp/", {"schema"}},
    {"kj/", {"schema"}},
    {"openssl/", {"schema"}},
    {"xxhash", {"schema"}},
    {"isa-l/", {"schema"}},
    {"google/protobuf/", {"schema"}},
    {"png.h", {"schema"}},
    {"dnnl", {"kernels"}},
    {"oneapi/", {"kernels"}},
    {"cuda", {"kernels"}},
    {"cublas", {"kernels"}},
    {"cudnn", {"kernels"}},
    {"thrust/", {"kernels"}},
    {"cub/", {"kernels"}},
    {"omp.h", {"kernels"}},
    {"arrow/", {"schema"}},
    {"parquet/", {"schema"}},
    {"lz4", {"schema"}},
    {"zstd.h", {"schema"}},
    {"zlib.h", {}},  // of tests, against which gzip is tested
    {"csv.h", {"schema"}},
    {"CLI/", {"schema"}},
    {"nlohmann/", {"schema"}},
    {"fmt/", {"actors", "apps"}},
    {"spdlog/", {"actors", "apps"}},
};

bool is_standard(const std::string& header) { return header.find_first_of("./") == std::string::npos; }

bool is_posix(const std::string& header) {
  static const std::regex form(R"([a-z_0-9]+\.h|(sys|net|netinet|arpa|linux)/[a-z_0-9]+\.h)");
  return std::regex_match(header, form);
}

// Why a source in `folder` may not include the system header, or "".
std::string system_header_mistake(const std::string& folder, const std::string& header) {
  if (is_standard(header)) return {};
  if (folder == "dataflow") return "dataflow includes the standard library only";
  for (const auto& [prefix, folders] : libraries)
    if (header.starts_with(prefix))
      return folders.contains(folder) ? "" : "this library belongs to another folder";
  return is_posix(header) ? "" : "an unknown library: add it to the table of this test";
}

std::string folder_of(const std::string& file) { return file.substr(0, file.find('/')); }

// The room of a file, as the table names it; "" if it has none.
std::string room_of(const std::string& file) {
  const std::string own = fs::path(file).parent_path().string();
  const auto is_room = [](const std::string& path) {
    return std::ranges::find(rooms, path, [](const auto& room) { return room.first; }) != rooms.end();
  };
  for (fs::path path = own; path.has_parent_path(); path = path.parent_path())
    if (is_room(path.string())) return path.string();
  return is_room(own) ? own : "";
}

std::string room_mistake(const std::string& file, const std::string& header) {
  const std::string from = room_of(file), to = room_of(header);
  for (const auto& [room, below] : rooms)
    if (room == from && to != from && !below.contains(to))
      return "the room " + from + " may not include it";
  return {};
}

// Generated headers lie where their schemas are, and are no part of a room.
bool is_generated(const std::string& header) {
  return header.ends_with(".capnp.h") || header.ends_with(".pb.h");
}

std::string own_header_mistake(const std::string& file, const std::string& header) {
  const std::string folder = folder_of(file), from = folder_of(header);
  if (!folders_below.contains(from)) return "not a path from the top of the project";
  if (!folders_below.at(folder).contains(from)) return "includes point downwards only";
  return folder == from && !is_generated(header) ? room_mistake(file, header) : "";
}

// "<header>: <mistake>" for each include of `file`, a path from the top, that breaks a rule.
std::vector<std::string> mistakes(const std::string& file, const std::string& text) {
  static const std::regex include(R"re(^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"])re",
                                  std::regex::multiline);
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end; ++match) {
    const std::string header = (*match)[2];
    const std::string mistake = (*match)[1] == "<" ? system_header_mistake(folder_of(file), header)
                                                   : own_header_mistake(file, header);
    if (!mistake.empty()) found.push_back(header + ": " + mistake);
  }
  return found;
}

bool is_source(const fs::path& path) {
  static const std::set<std::string> extensions = {".h", ".cpp", ".cu", ".cuh"};
  return extensions.contains(path.extension().string());
}

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// What an actor is made of that does not die unseen (actors/runtime/guarded_actor.h); "" if it is.
std::string actor_mistake(const std::string& name, const std::string& text) {
  // The base itself, and CAF's printer, which prints nothing.
  static const std::set<std::string> exempt = {"actors/runtime/guarded_actor.h",
                                               "actors/runtime/guarded_actor.cpp",
                                               "actors/simulation/sim_runtime.cpp"};
  static const std::regex of_caf(
      R"((event_based|blocking|scoped|typed|composable_behavior_based)_actor\b)");
  static const std::regex state(
      R"(stateful_actor<(?!std::unique_ptr<\w+>, (Light|Computing|Measured|Pinned|Piece)Actor>))");
  static const std::regex of_lambda(R"(spawn(<[^>]*>)?\(\s*\[)");
  static const std::regex unguarded(R"(return\s*\{+\s*\[)");
  if (exempt.contains(name)) return {};
  if (std::regex_search(text, of_caf))
    return "an actor of CAF's own kind instead of one of thread_affinity.h";
  if (std::regex_search(text, state))
    return "an actor with a state whose base is not of thread_affinity.h";
  if (std::regex_search(text, of_lambda)) return "an actor that is a lambda";
  if (text.find("caf::behavior") != text.npos && std::regex_search(text, unguarded))
    return "a behavior that was not made by guarded()";
  return {};
}

}  // namespace

// Calls visit(name from the top of the project, text) for every production source.
template <class Visit>
void for_each_source(Visit visit) {
  const fs::path top(ACTORFLOW_SOURCE_DIR);
  std::size_t sources = 0;
  for (const auto& rule : folders_below)
    for (const auto& entry : fs::recursive_directory_iterator(top / rule.first)) {
      if (!is_source(entry.path())) continue;
      ++sources;
      visit(fs::relative(entry.path(), top).string(), contents(entry.path()));
    }
  BOOST_TEST(sources > 50u);
}

BOOST_AUTO_TEST_CASE(every_source_keeps_to_its_layer_and_its_room) {
  for_each_source([](const std::string& name, const std::string& text) {
    for (const auto& mistake : mistakes(name, text)) BOOST_ERROR(name << " includes " << mistake);
  });
}

BOOST_AUTO_TEST_CASE(every_source_has_a_room_and_no_room_is_full) {
  std::map<std::string, std::size_t> files;
  for_each_source([&files](const std::string& name, const std::string&) {
    const std::string room = room_of(name);
    BOOST_TEST(!room.empty(), name << " lies in no room of the table");
    ++files[room];
  });
  for (const auto& [room, count] : files)
    BOOST_TEST(count <= most_files_of_a_room, room << " has " << count << " files: divide it");
  for (const auto& folder : folders_with_a_face)
    BOOST_TEST(files[folder] == 1u, "sources at the top of " << folder << " belong into its rooms");
}

BOOST_AUTO_TEST_CASE(rooms_have_a_readme_and_include_rooms_of_earlier_rows_only) {
  Folders earlier;
  for (const auto& [room, below] : rooms) {
    BOOST_TEST(fs::exists(fs::path(ACTORFLOW_SOURCE_DIR) / room / "README.md"), room);
    for (const auto& other : below) BOOST_TEST(earlier.contains(other), room << " includes " << other);
    earlier.insert(room);
  }
}

BOOST_AUTO_TEST_CASE(every_header_begins_by_saying_what_it_is) {
  for_each_source([](const std::string& name, const std::string& text) {
    if (name.ends_with(".h")) BOOST_TEST(text.starts_with("// "), name);
  });
}

BOOST_AUTO_TEST_CASE(an_upward_include_is_found) {
  BOOST_TEST(mistakes("dataflow/a.h", "#include \"kernels/devices/device.h\"\n").size() == 1u);
  BOOST_TEST(mistakes("schema/a.h", "#include \"kernels/devices/device.h\"\n").size() == 1u);
  BOOST_TEST(mistakes("kernels/a.h", "#pragma once\n  # include \"actors/task/server.h\"\n").size() ==
             1u);
  BOOST_TEST(mistakes("actors/a.h", "#include \"kernels/devices/device.h\"\n").empty());
}

BOOST_AUTO_TEST_CASE(an_include_of_a_room_above_is_found) {
  BOOST_TEST(mistakes("actors/core/a.h", "#include \"actors/task/server.h\"\n").size() == 1u);
  BOOST_TEST(
      mistakes("actors/checkpoint/files/a.h", "#include \"actors/checkpoint/saver.h\"\n").size() == 1u);
  BOOST_TEST(mistakes("dataflow/values/a.h", "#include \"dataflow/graph/graph.h\"\n").size() == 1u);
  BOOST_TEST(mistakes("schema/a.cpp", "#include \"schema/io/io_loop.h\"\n").size() == 1u);
  BOOST_TEST(mistakes("schema/a.cpp", "#include \"schema/event.pb.h\"\n").empty());
  BOOST_TEST(
      mistakes("actors/monitored/hooks/a.cpp", "#include \"actors/monitored/hooks.h\"\n").empty());
  BOOST_TEST(mistakes("actors/task/a.h", "#include \"actors/core/messages.h\"\n").empty());
  BOOST_TEST(mistakes("apps/cli/a.h", "#include \"apps/rehearsal/rehearse.h\"\n").size() == 1u);
  BOOST_TEST(mistakes("apps/rehearsal/a.h", "#include \"apps/cli/program.h\"\n").empty());
  BOOST_TEST(mistakes("apps/iris.cpp", "#include \"apps/cli/program.h\"\n").empty());
}

BOOST_AUTO_TEST_CASE(a_library_outside_of_its_folder_is_found) {
  BOOST_TEST(mistakes("apps/a.h", "#include <caf/actor.hpp>\n").size() == 1u);
  BOOST_TEST(mistakes("actors/a.h", "#include <capnp/message.h>\n").size() == 1u);
  BOOST_TEST(mistakes("dataflow/a.h", "#include <unistd.h>\n").size() == 1u);
  BOOST_TEST(mistakes("actors/a.h", "#include <boost/asio.hpp>\n").size() == 1u);
  BOOST_TEST(
      mistakes("schema/a.h", "#include <kj/async.h>\n#include <sys/socket.h>\n#include <vector>\n")
          .empty());
}

BOOST_AUTO_TEST_CASE(every_actor_is_guarded) {
  BOOST_TEST(actor_mistake("x", "class A : public caf::event_based_actor {};") != "");
  BOOST_TEST(actor_mistake("x", "using A = caf::stateful_actor<int>;") != "");
  BOOST_TEST(actor_mistake("x", "system.spawn<caf::lazy_init>([](A*) {});") != "");
  BOOST_TEST(actor_mistake("x", "caf::behavior f() {\n  return {\n      [this](Tick) {},\n  };\n}") !=
             "");
  BOOST_TEST(actor_mistake("x", "using A = caf::stateful_actor<std::unique_ptr<B>, PieceActor>;") == "");
  const fs::path top(ACTORFLOW_SOURCE_DIR);
  std::size_t behaviors = 0;
  for (const auto& entry : fs::recursive_directory_iterator(top / "actors")) {
    if (!is_source(entry.path())) continue;
    const std::string name = fs::relative(entry.path(), top).string(), text = contents(entry.path());
    behaviors += text.find("guarded(") != text.npos;
    const std::string mistake = actor_mistake(name, text);
    BOOST_TEST(mistake.empty(), name << ": " << mistake);
  }
  BOOST_TEST(behaviors > 10u);
}

// Timeouts are by steady clocks: nothing but dates for people comes from the wall clock.
BOOST_AUTO_TEST_CASE(clock_jump_the_wall_clock_decides_nothing) {
  static const std::regex wall_clock(
      R"(system_clock|high_resolution_clock|utc_clock|CLOCK_REALTIME|)"
      R"(gettimeofday|\btime\((nullptr|NULL|0)\)|systemCoarseCalendarClock|)"
      R"(systemPreciseCalendarClock)");
  // Storage::wall_time_s(), when a checkpoint was saved and when an event was written; the days on which
  // a certificate is valid; what stands in front of the clock in simulations.
  const std::set<std::string> dates = {
      "actors/runtime/posix_storage.cpp",    "actors/simulation/escapes/interpose.cpp",
      "apps/commands/keygen_command.cpp",    "apps/launch/deploy/manifest_parts.cpp",
      "apps/launch/run/job_credentials.cpp", "schema/tls/tls_context.cpp"};
  BOOST_TEST(std::regex_search("const auto end = std::chrono::system_clock::now();", wall_clock));
  for_each_source([&dates](const std::string& name, const std::string& text) {
    if (std::regex_search(text, wall_clock))
      BOOST_TEST(dates.contains(name), name << " reads the wall clock, which may jump");
  });
}

BOOST_AUTO_TEST_SUITE_END()
