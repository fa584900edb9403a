# Make the manual pages of the `hearth` command, compressed, of the help that it prints. Run by `cmake -P`, with
#   HEARTH     the command
#   DIRECTORY  for the pages, which is made anew
# A name that says the same as another one gets a link to its page.
function(write_page name)
  execute_process(COMMAND ${HEARTH} ${ARGN} --help=man OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(SHA256 hash "${text}")
  get_property(other GLOBAL PROPERTY page-${hash})
  if(other)
    file(CREATE_LINK ${other} ${DIRECTORY}/${name}.1.gz SYMBOLIC)
    return()
  endif()
  set_property(GLOBAL PROPERTY page-${hash} ${name}.1.gz)
  file(WRITE ${DIRECTORY}/${name}.1 "${text}")
  execute_process(COMMAND gzip -9nf ${DIRECTORY}/${name}.1 COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${DIRECTORY})
execute_process(COMMAND ${HEARTH} --help OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n  [a-z+]+ " commands "${lines}")
write_page(hearth)
foreach(command IN LISTS commands)
  string(STRIP "${command}" command)
  write_page(hearth-${command} ${command})
endforeach()
