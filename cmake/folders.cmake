# A folder of sources is a target and a wall: its files see the headers of their own folder and of those named, and no
# others. An arrow that is not written down here does not compile.
#
#   hearth_folder(NAME [PUBLIC subfolder] SOURCES file... [USES folder...] [LIBRARIES library...])
#
# NAME is the folder's path with '-' for '/'. PUBLIC: other folders see only the headers in this subfolder. USES are NAMEs
# (also those whose headers are included by the headers that this folder includes); LIBRARIES are foreign. The target is
# an object library: hearth_archive makes archives of them.
function(hearth_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 folder "" "PUBLIC" "SOURCES;USES;LIBRARIES")
  add_library(${name} OBJECT ${folder_SOURCES})
  set(public ${CMAKE_CURRENT_SOURCE_DIR})
  if(folder_PUBLIC)
    string(APPEND public /${folder_PUBLIC})
  endif()
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} PUBLIC ${public})
  target_link_libraries(${name} PRIVATE ${folder_USES} ${folder_LIBRARIES})
  hearth_sanitize(${name})
endfunction()

# hearth_archive(NAME folder...): a static library of these folders' objects.
function(hearth_archive name)
  set(objects ${ARGN})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(${name} STATIC ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  hearth_sanitize(${name})
endfunction()

# hearth_module(NAME [FOLDERS folder...] VERBS file... USES folder...): what profile/NAME adds, which builds can leave out.
# Its folders become a part of libhearth_view, its verbs (cmd_*.c and what only these need) one of the `hearth` command, and
# its public headers, in include/ where it has folders, are installed.
function(hearth_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "" "" "FOLDERS;VERBS;USES")
  set(verbs profile-${name}-verbs)
  hearth_folder(${verbs} SOURCES ${module_VERBS}
    USES hearth_format profile-base profile-public profile-show-common profile-tools-cli ${module_USES})
  set_property(GLOBAL APPEND PROPERTY HEARTH_MODULE_VERBS ${verbs})
  if(module_FOLDERS)
    set_property(GLOBAL APPEND PROPERTY HEARTH_MODULE_FOLDERS ${module_FOLDERS})
    set_property(GLOBAL APPEND PROPERTY HEARTH_MODULE_INCLUDES ${CMAKE_CURRENT_SOURCE_DIR}/include)
    install(DIRECTORY include/hearth DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
  endif()
endfunction()

# hearth_look_into(TARGET folder...): a test sees the headers of these folders, private ones too.
function(hearth_look_into target)
  foreach(folder ${ARGN})
    target_include_directories(${target} PRIVATE $<TARGET_PROPERTY:${folder},SOURCE_DIR>
      $<TARGET_PROPERTY:${folder},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
endfunction()
