// What tasks print, on the console and in files.
#pragma once

#include <array>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "apps/launch/run/console.h"
#include "apps/launch/run/line_splitter.h"
#include "apps/launch/task_layout.h"

namespace actorflow {

class TaskOutput {
 public:
  // With a folder, which is made if it is not there, each task also has a file "worker-1.log" in it: its
  // lines without prefixes, of both streams. An earlier launch's file of that name is kept as
  // "worker-1.log.1", or with the next number that is free. Throws Error.
  TaskOutput(Console& console, const std::vector<LaunchedTask>& tasks, const std::string& folder);

  // Another task, with the next index. Throws Error, and has not got it then.
  void add_task(const LaunchedTask& task);
  // Bytes of a task, by its index; stream 1 or 2.
  void add(int task, int stream, std::string_view bytes);
  // The task has ended: its last line may have no newline.
  void finish(int task);
  // No task prints any more. A log whose last lines the disk has refused is named on the console.
  void close_logs();

 private:
  struct Shown {
    std::string label;
    std::array<LineSplitter, 2> streams;
    std::string log;  // the path of `file`
    std::ofstream file;
  };

  void open_log(Shown& shown);
  void keep_earlier(const std::string& log);
  void show(int task, int stream, std::string_view line, bool is_whole);
  void write_log(Shown& shown, std::string_view line, bool is_whole);

  Console& console_;
  const std::string folder_;
  bool said_kept_ = false;  // that earlier logs are kept
  std::vector<Shown> tasks_;
};

}  // namespace actorflow
