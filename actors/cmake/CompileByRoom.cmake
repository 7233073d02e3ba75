# With ACTORFLOW_BATCHES the compiler gets all files of a room at once, those of the rooms in it too, or a part of a
# large one, in a third of the time: it makes what templates need once for all of them. A room is a folder such as
# actors/models. No batch leaves its room, so that names in anonymous namespaces must be unique in a room only. Without
# it each file is compiled alone, which finds one that lacks an include.
#
# Files of which a test has versions of its own (ACTORFLOW_REPLACED_SOURCES) are batches of their own: they take the
# place of those in the libraries, of which a program has all of a batch or nothing. Its versions lie below the folder
# TOP, if given, as those of the libraries below the project's.
#
# No batch has more than MOST files: 24, or fewer where each makes the compiler take much memory.
#
# Headers behind PRECOMPILE, which most of the batches include, are compiled once. They are libraries' of others or of
# layers below, for the compiler warns of nothing in them.
function(actorflow_compile_by_room target)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "TOP;MOST" PRECOMPILE)
  if(NOT ACTORFLOW_BATCHES)
    return()
  endif()
  if(NOT room_TOP)
    set(room_TOP ${CMAKE_SOURCE_DIR})
  endif()
  if(NOT room_MOST)
    set(room_MOST 24)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # The warning takes a file among others for a header.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  list(TRANSFORM room_PRECOMPILE REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  target_precompile_headers(${target} PRIVATE ${room_PRECOMPILE})
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE place)
    cmake_path(RELATIVE_PATH place BASE_DIRECTORY ${room_TOP})
    if(place IN_LIST ACTORFLOW_REPLACED_SOURCES)
      string(REGEX MATCH "^(actors/jobs|actors|apps|dataflow)" part ${place})
      string(MAKE_C_IDENTIFIER replaced_${part} batch)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${batch})
      continue()
    endif()
    string(REGEX MATCH "^[^/]+/[^/]+/" folder ${place})  # nothing for a file that is in no room
    string(MAKE_C_IDENTIFIER "room_${folder}" room)
    list(APPEND rooms ${room})
    list(APPEND files_of_${room} ${source})
  endforeach()
  list(REMOVE_DUPLICATES rooms)
  foreach(room ${rooms})
    list(LENGTH files_of_${room} count)
    math(EXPR batches "(${count} + ${room_MOST} - 1) / ${room_MOST}")
    set(place 0)
    foreach(source ${files_of_${room}})
      math(EXPR batch "${place} * ${batches} / ${count}")
      math(EXPR place "${place} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}_${batch})
    endforeach()
  endforeach()
endfunction()
