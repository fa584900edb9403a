/* Blocks of make(0) are cold by way of second and hot by way of first; those of make(1) the other way round. */
#include <stdio.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))
char *make(int b);
int hearth_malloc_class(const void *) __attribute__((weak));
static NOINLINE char *first(int b) { char *p = make(b); p[3] = 1; return p; }
static NOINLINE char *second(int b) { char *p = make(b); p[3] = 2; return p; }
static char *cold[2][500], *hot[2][200];
static void count(char *const *blocks, int n, int ret[3]) {
  for (int i = 0; i < n; i++)
    ret[hearth_malloc_class ? hearth_malloc_class(blocks[i]) : 0]++;
}
int main(void) {
  volatile int a = 0, b = 1;
  int placed[2][3] = {{0}};
  for (int i = 0; i < 500; i++) {
    cold[0][i] = second(a);
    cold[1][i] = first(b);
  }
  for (int i = 0; i < 200; i++) {
    hot[0][i] = memset(first(a), 0, 100);
    hot[1][i] = memset(second(b), 0, 100);
  }
  for (int r = 0; r < 20000; r++)
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < 200; i++)
        hot[k][i][r % 100]++;
  for (int k = 0; k < 2; k++) {
    count(cold[k], 500, placed[0]);
    count(hot[k], 200, placed[1]);
  }
  printf("hot: other %d cold %d hot %d\n", placed[1][0], placed[1][1], placed[1][2]);
  printf("cold: other %d cold %d hot %d\n", placed[0][0], placed[0][1], placed[0][2]);
}
