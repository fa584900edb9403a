/* When the program gives up its rights, the runtime's own thread does so, too. REQUIRES: root
 *
 * RUN: %clang -O1 %s -o %t && rm -rf %t.dir && mkdir -m 777 %t.dir && %hearth record --accesses -q -o %t.dir/prof -- %t | FileCheck %s
 * CHECK: users, hearth: 65534 65533 65533
 * CHECK-NEXT: groups, hearth: 65532 65532 65532
 * CHECK-NEXT: others, hearth: 7 8 
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Print what the kernel says of the other thread; how many lines tell that it has given up its rights. */
static int look(const char *task, int prints) {
  char path[300], line[300], name[100] = "";
  unsigned ids[3];
  int given_up = 0;
  snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
  FILE *file = fopen(path, "r");

  while (file && fgets(line, sizeof line, file)) {
    sscanf(line, "Name: %99s", name);
    given_up += sscanf(line, "Uid: %u %u %u", &ids[0], &ids[1], &ids[2]) == 3 && ids[0] == 65534;
    for (int i = 0; prints && i < 3; i++) {
      const char *start = &"Uid:\0   Gid:\0   Groups:\0"[8 * i];
      if (strncmp(line, start, strlen(start)) != 0)
        continue;
      if (i < 2 && sscanf(line + 4, "%u %u %u", &ids[0], &ids[1], &ids[2]) == 3)
        printf("%s, %s: %u %u %u\n", i ? "groups" : "users", name, ids[0], ids[1], ids[2]);
      else
        printf("others, %s: %s", name, line + strlen("Groups:\t"));
    }
  }
  if (file)
    fclose(file);
  return strcmp(name, "hearth") == 0 && given_up;
}

int main(void) {
  const gid_t others[] = {7, 8};

  if (setgroups(2, others) != 0 || setresgid(65532, 65532, 65532) != 0 || setresuid(65534, 65533, 65533) != 0)
    return 1;
  alarm(600);
  for (;; usleep(1000)) {
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *at; tasks && (at = readdir(tasks));)
      if (look(at->d_name, 0))
        return !look(at->d_name, 1);
    if (tasks)
      closedir(tasks);
  }
}
