/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* attached_process.h on processors whose calling convention attached_process.c does not know. */
#include "attached_process.h"

#include "command_line.h"

int hearth_process_record(pid_t pid, const char *library, const char *settings, void (*begun)(void)) {
  (void)library, (void)settings, (void)begun;
  return hearth_tool_error("%d: a program that runs can be recorded on x86-64 only; start it with 'hearth record'",
                           (int)pid);
}
