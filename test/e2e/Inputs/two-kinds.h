/* A main of two kinds of blocks: make(0)'s are cold by way of second and hot by way of first; those of make(1), of BYTES bytes, are
 * hot by way of second and cold by way of the function COLD. It prints where they lie. */
#include <stdio.h>
#include <string.h>
int hearth_malloc_class(const void *) __attribute__((weak));
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
    cold[1][i] = COLD(b);
  }
  for (int i = 0; i < 200; i++) {
    hot[0][i] = memset(first(a), 0, 100);
    hot[1][i] = memset(second(b), 0, BYTES);
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
