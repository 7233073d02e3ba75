// How a task tells its launcher that it has begun to work, so that it is started again if it dies: the
// variable ACTORFLOW_STEP_FD is the number of a pipe's descriptor, to which the task writes "w" before
// it listens (steps will come) and "s" after its first step. Any program may do so. As a program between
// the two may have closed the pipe and its number be another file's, ACTORFLOW_STEP_PIPE is the pipe's
// inode: nothing is written to anything else.
#pragma once

namespace actorflow {

inline constexpr const char* step_report_variable = "ACTORFLOW_STEP_FD";
inline constexpr const char* step_pipe_variable = "ACTORFLOW_STEP_PIPE";
inline constexpr char will_step_mark = 'w', step_mark = 's';

// Write a mark, if there is a launcher. Only the first call of each does anything.
void report_will_step();
void report_step();

}  // namespace actorflow
