# With ACTORFLOW_BATCHES the compiler gets all files of a room (folder) at once, or half of a large one, in a third of
# the time: it makes what templates need once for all of them. No batch leaves its room, so that names in anonymous
# namespaces must be unique in a room only. Without it each file is compiled alone, which finds one that lacks an
# include.
#
# Files of which a test has versions of its own (ACTORFLOW_REPLACED_SOURCES) are batches of their own: they take the
# place of those in the libraries, of which a program has all of a batch or nothing. Its versions lie below the folder
# `top`, if given, as those of the libraries below the project's.
function(actorflow_compile_by_room target)
  if(NOT ACTORFLOW_BATCHES)
    return()
  endif()
  set(top ${CMAKE_SOURCE_DIR})
  if(ARGC GREATER 1)
    set(top ${ARGV1})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # The warning takes a file among others for a header.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE place)
    cmake_path(RELATIVE_PATH place BASE_DIRECTORY ${top})
    if(place IN_LIST ACTORFLOW_REPLACED_SOURCES)
      string(REGEX MATCH "^(actors/jobs|actors|apps)" part ${place})
      string(MAKE_C_IDENTIFIER replaced_${part} batch)
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
