/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime's needs from the operating system: a port must supply all of them, and nothing else. Nothing here
 * allocates from a heap, takes a lock or changes errno. Functions marked "early" work before the C library and the
 * program's own relocations are ready: malloc is called that early by some dynamic loaders and IFUNC resolvers. */
#ifndef HEARTH_RUNTIME_OS_H
#define HEARTH_RUNTIME_OS_H

#include "machine.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions that programs call are exported; all else is hidden. */
#define HEARTH_EXPORT __attribute__((visibility("default")))
/* A program that links with the archive may have a function of its own under this name. */
#define HEARTH_EXPORT_WEAK __attribute__((visibility("default"), weak))

/* -- memory; early ------------------------------------------------------------------------------------------------- */

/* Copy `size` bytes at `address` of this process to `to`. False, instead of a fault, if they are not mapped. */
bool hearth_os_peek(uintptr_t address, void *to, size_t size);

/* Addresses that the system gives to this process have at most so many bits. */
unsigned hearth_os_address_bits(void);

/* -- files; results below 0 are negated error numbers; early ------------------------------------------------------- */

int hearth_os_open_read(const char *path);
int hearth_os_create(const char *path); /* to be read, too; mode 0600; close-on-exec; -EEXIST if there is a file */
int hearth_os_create_append(const char *path); /* the same, to append to */
int hearth_os_open_append(const char *path);   /* close-on-exec; waits for no reader of a pipe */
bool hearth_os_is_device(const char *path);    /* such as /dev/null; not of blocks, nor a link to one */
int hearth_os_open_device(const char *path);   /* to write to; close-on-exec; -ENODEV if it is none */
void hearth_os_truncate(int fd, uint64_t size);
/* Which file a descriptor is of; false: none. */
typedef struct hearth_os_file_id {
  uint64_t device, number;
} hearth_os_file_id;
bool hearth_os_file_id_of(int fd, hearth_os_file_id *ret);
bool hearth_os_is_file(int fd, hearth_os_file_id id); /* is it open, and of that file? */
bool hearth_os_has_reader(int fd);                    /* a pipe or socket: somebody may wait for its end */
int hearth_os_duplicate(int fd, int least);           /* close-on-exec; a free number from `least` on */
uint64_t hearth_os_descriptor_limit(void);            /* numbers of new descriptors are below */
long hearth_os_read(int fd, void *to, size_t size);
long hearth_os_read_at(int fd, void *to, size_t size, uint64_t offset);
long hearth_os_write(int fd, const void *from, size_t size);
long hearth_os_write_at(int fd, const void *from, size_t size, uint64_t offset);
int hearth_os_close(int fd);
int hearth_os_rename(const char *from, const char *to);
int hearth_os_rename_new(const char *from, const char *to); /* -EEXIST if there is a file `to` */
void hearth_os_unlink(const char *path);
int hearth_os_make_directory(const char *path); /* mode 0777 less umask */
/* The working directory, NUL-terminated; false if it does not fit or does not exist. */
bool hearth_os_working_directory(char *to, size_t size);

/* -- signals; results below 0 are negated error numbers ------------------------------------------------------------ */

/* Block signals of the mask for this thread; early. Returns the signals that were blocked before. */
uint64_t hearth_os_block(uint64_t mask);
static inline uint64_t hearth_os_block_signals(void) { return hearth_os_block(~UINT64_C(0)); }
void hearth_os_restore_signals(uint64_t blocked); /* early */

/* The layout is the kernel's. */
typedef struct hearth_os_action {
  void (*handler)(int, siginfo_t *, void *); /* or SIG_DFL, SIG_IGN; two arguments less without SA_SIGINFO */
  unsigned long flags;                       /* SA_*; flags that returning needs are added */
  uint64_t mask;                             /* bit N - 1 is signal N, as in all masks here */
} hearth_os_action;

int hearth_os_sigaction(int signal, const hearth_os_action *action, hearth_os_action *ret_old); /* either may be NULL */
void hearth_os_raise(int signal);                                                               /* for this thread */
uint64_t hearth_os_pending(void); /* mask of those that wait to be unblocked */
/* Take back a signal of the mask that waits to be unblocked; false if none does. */
bool hearth_os_take_pending(uint64_t mask);
/* Answer a signal that a process queued: `value` comes back to it. */
void hearth_os_queue(uint32_t pid, int signal, int value);
/* Use `memory` for handlers of this thread unless it has a signal stack already. Returns whether it is used. */
bool hearth_os_signal_stack(void *memory, size_t size);
/* No longer use it. False: the caller is on it. */
bool hearth_os_forget_signal_stack(const void *memory);

/* -- process and thread -------------------------------------------------------------------------------------------- */

uint32_t hearth_os_pid(void);            /* early */
bool hearth_os_is_main_thread(void);     /* early */
void hearth_os_yield(void);              /* early */
_Noreturn void hearth_os_exit(int code); /* early; nothing of the program runs any more */
_Noreturn void hearth_os_abort(void);    /* early; SIGABRT: handlers run, then the default action */
/* Both return only if they fail. */
int hearth_os_exec(const char *path, char *const argv[], char *const environment[]);
int hearth_os_exec_at(int directory, const char *path, char *const argv[], char *const environment[], int flags);
/* The path that the program was executed by; "": not known. */
const char *hearth_os_program_path(void);
/* The arguments that the program was started with, each with its NUL, as the kernel has them; cut at `size`. Returns
 * how many bytes there are; 0: they cannot be read. */
size_t hearth_os_command(char *to, size_t size);
uintptr_t hearth_os_program_entry(void); /* an address in the executable's code */
/* The least limit of the address space that can be reserved, in bytes, and the letter by which ulimit names it;
 * UINT64_MAX: there is none. */
uint64_t hearth_os_address_space_limit(char *ret_letter);
uint64_t hearth_os_random(void); /* does not wait; another number in each process that has the same memory */
/* The machine's name in its network; cut if it does not fit. */
void hearth_os_host_name(char *to, size_t size);
bool hearth_os_is_privileged(void); /* set-user-id and the like: the environment is not to be trusted */
/* Note the users and groups of this thread; our own thread, which the C library does not know, takes them over when
 * it calls the second. */
void hearth_os_note_rights(void);
void hearth_os_take_noted_rights(void);
/* Let hearth_os_barrier work in this process, as long as it is not forked; cheap while there is one thread. False: the
 * system has none. */
bool hearth_os_barrier_begin(void);
/* Return after all threads of the process have executed a barrier. False: they have not. */
bool hearth_os_barrier(void);
/* Begin a thread of our own, which no library knows of: signals are blocked in it, and it has no file open. `run`
 * uses nothing that is thread-local, and no more than locks of ours. `memory` is zeroed, aligned, and stays. False:
 * the system has refused it. */
bool hearth_os_begin_thread(void (*run)(void), void *memory, size_t size);
/* Is the program's first thread still there? A process does not end before our own thread does. */
bool hearth_os_is_main_alive(void);
void hearth_os_sleep(uint64_t ns);   /* of such a thread: to the microsecond */
uint64_t hearth_os_thread_ns(void);  /* CPU time that this thread has taken */
uint64_t hearth_os_process_ns(void); /* the same, of all threads of the process */
/* CPU that runs the caller. Where the C library shares the words that the kernel writes for each thread (rseq), one
 * read is enough, once hearth_os_cpu_begin was called: there is an offset from the thread pointer to the CPU's number,
 * which is negative where it is not known. */
void hearth_os_cpu_begin(void);
uint32_t hearth_os_cpu_count(void); /* CPUs that there may ever be; their numbers are below */
uint32_t hearth_os_ask_cpu(void);
extern intptr_t hearth_os_cpu_offset __attribute__((visibility("hidden"))); /* 0: none */
static inline uint32_t hearth_os_cpu(void) {
  if (__builtin_expect(hearth_os_cpu_offset != 0, true)) {
    int32_t cpu = *(const volatile int32_t *)(hearth_os_thread_pointer() + (uintptr_t)hearth_os_cpu_offset);
    if (__builtin_expect(cpu >= 0, true))
      return (uint32_t)cpu;
  }
  return hearth_os_ask_cpu();
}
uint64_t hearth_os_now_ns(void);  /* monotonic clock */
uint64_t hearth_os_unix_ns(void); /* UTC */
bool hearth_os_has_ticks(void);   /* hearth_os_ticks goes on evenly (machine.h) */

/* The process's mappings, as /proc/self/maps lists them, in ascending order. Early; does not allocate. */

typedef struct hearth_maps {
  int fd;
  char *buffer; /* caller's; unread bytes are [begin, end) */
  size_t size, begin, end;
  bool has_line;    /* the unread bytes begin with the line returned last ... */
  size_t line_size; /* ... of this size, or as much of it as fits */
} hearth_maps;

typedef struct hearth_maps_entry {
  uintptr_t start, end;
  bool readable, writable, executable;
  uint64_t file_offset;
  uint64_t inode;   /* 0: no file */
  const char *path; /* in the buffer until the next call; not NUL-terminated; as much as fits */
  size_t path_size;
} hearth_maps_entry;

/* `size` of at least 256 gives all but long paths. False: the list cannot be read. */
bool hearth_maps_open(hearth_maps *maps, char *buffer, size_t size);
bool hearth_maps_next(hearth_maps *maps, hearth_maps_entry *ret_entry);
void hearth_maps_close(hearth_maps *maps);

#endif
