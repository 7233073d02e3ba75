# With ACTORFLOW_BATCHES the compiler gets all files of a room (folder) at once, or half of a large one, in a third of
# the time: it makes what templates need once for all of them. No batch leaves its room, so that names in anonymous
# namespaces must be unique in a room only. Without it each file is compiled alone, which finds one that lacks an
# include.
#
# Files with a planted bug (actors/probes/planted_bug.h) are batches of their own: test_planted, in which they take the
# place of those in the libraries, has all of such a batch or nothing.
set(ACTORFLOW_PLANTED_SOURCES
  actors/training/accumulator.cpp actors/checkpoint/files/file_writer.cpp actors/core/fence.cpp
  actors/runtime/file_storage.cpp actors/monitored/session_maker.cpp actors/task/peer.cpp
  actors/shard/checkpoints.cpp actors/shard/applied_updates.cpp actors/shard/epoch.cpp
  actors/shard/synchronous.cpp actors/training/token_barrier.cpp actors/training/step_holds.cpp
  actors/checkpoint/saver.cpp actors/collectives/engine/operation.cpp
  actors/collectives/engine/rank_group.cpp actors/jobs/engine/input_fetcher.cpp
  actors/jobs/engine/part.cpp actors/jobs/engine/slice_server.cpp
  actors/jobs/engine/coordinator_parts.cpp actors/jobs/engine/job_coordinator.cpp
  actors/jobs/engine/kept_records.cpp actors/jobs/engine/chunk_file.cpp
  actors/jobs/engine/job_journal.cpp actors/jobs/outputs.cpp apps/training/train_replica.cpp)

function(actorflow_compile_by_room target)
  if(NOT ACTORFLOW_BATCHES)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # The warning takes a file among others for a header.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE place)
    cmake_path(RELATIVE_PATH place BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    if(place IN_LIST ACTORFLOW_PLANTED_SOURCES)
      string(REGEX MATCH "^(actors/jobs|actors|apps)" part ${place})
      string(MAKE_C_IDENTIFIER planted_${part} batch)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${batch})
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" room)
    list(APPEND rooms ${room})
    list(APPEND files_of_${room} ${source})
  endforeach()
  list(REMOVE_DUPLICATES rooms)
  foreach(room ${rooms})
    list(LENGTH files_of_${room} count)
    math(EXPR batches "(${count} + 19) / 20")
    set(place 0)
    foreach(source ${files_of_${room}})
      math(EXPR batch "${place} * ${batches} / ${count}")
      math(EXPR place "${place} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}_${batch})
    endforeach()
  endforeach()
endfunction()
