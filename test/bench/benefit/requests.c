/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* requests: a client of redis. It sets all keys, sends pipelined GET and SET, then a mixed set of requests, and ends the
 * server. Prints a checksum of all replies, which is the same for the same arguments.
 *
 * usage: requests SOCKET KEYS REQUESTS SEED [LATENCIES]
 *   LATENCIES  a file to which it appends the microseconds from request to reply: "MEDIAN P99", setting keys left out
 *
 * Requests go out in batches, and the next one when the oldest was answered, so that the server always has work waiting. Nine
 * in ten requests are for a tenth of the keys. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 16, BATCHES_UNDER_WAY = 4, UNDER_WAY = BATCH * BATCHES_UNDER_WAY, BUFFER_BYTES = 1 << 20 };

static int server;
static uint64_t random_state, checksum = 14695981039346656037u;
static char out[BUFFER_BYTES], in[BUFFER_BYTES], filler[512];
static size_t out_bytes, in_bytes, in_at;
static double sent_at[UNDER_WAY];        /* of request i: sent_at[i % UNDER_WAY] */
static uint64_t written, sent, answered; /* requests: into the buffer, to the server, and back */
static float *latencies;                 /* microseconds */
static uint64_t latency_count;
static bool is_timed;

static _Noreturn void fail(const char *what) {
  perror(what);
  exit(1);
}

static _Noreturn void reject(const char *line) {
  fprintf(stderr, "requests: the server says %s", line);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static uint32_t below(uint32_t limit) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 32) * limit >> 32);
}

static void connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  server = socket(AF_UNIX, SOCK_STREAM, 0);
  for (int attempt = 0; connect(server, (struct sockaddr *)&address, sizeof address); attempt++) {
    if (attempt == 3000)
      fail("connect");
    usleep(20000);
  }
}

static void send_all(void) {
  for (size_t at = 0; at < out_bytes;) {
    ssize_t some = write(server, out + at, out_bytes - at);
    if (some <= 0)
      fail("write");
    at += (size_t)some;
  }
  out_bytes = 0;
  for (double time = now(); sent < written; sent++)
    sent_at[sent % UNDER_WAY] = time;
}

static char next_byte(void) {
  if (in_at == in_bytes) {
    ssize_t some = read(server, in, sizeof in);
    if (some <= 0)
      fail("read");
    in_bytes = (size_t)some;
    in_at = 0;
  }
  char byte = in[in_at++];
  checksum = (checksum ^ (unsigned char)byte) * 1099511628211u;
  return byte;
}

/* One value of a reply: a line, and for a string or an array what follows it. */
static void read_value(void) {
  char line[256];
  size_t length = 0;
  do {
    line[length] = next_byte();
  } while (line[length++] != '\n' && length < sizeof line - 1);
  line[length] = 0;
  long count = line[0] == '$' || line[0] == '*' ? strtol(line + 1, NULL, 10) : -1;
  if (line[0] == '-')
    reject(line);
  if (line[0] == '$' && count >= 0)
    for (long i = 0; i < count + 2; i++)
      next_byte();
  else if (line[0] == '*')
    for (long i = 0; i < count; i++)
      read_value();
}

static void read_reply(void) {
  read_value();
  if (is_timed)
    latencies[latency_count++] = (float)((now() - sent_at[answered % UNDER_WAY]) * 1e6);
  answered++;
}

/* Sends the batch, once there are few enough under way. */
static void flush(void) {
  send_all();
  while (sent - answered > UNDER_WAY - BATCH)
    read_reply();
}

static void drain(void) {
  send_all();
  while (answered < sent)
    read_reply();
}

/* A request, its words apart by blanks. */
static void request(const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  int words = 1;
  for (const char *at = text; *at; at++)
    words += *at == ' ';
  out_bytes += (size_t)sprintf(out + out_bytes, "*%d\r\n", words);
  for (const char *at = text, *end; words > 0; words--, at = end + 1) {
    end = strchrnul(at, ' ');
    out_bytes += (size_t)sprintf(out + out_bytes, "$%d\r\n%.*s\r\n", (int)(end - at), (int)(end - at), at);
  }
  if (++written % BATCH == 0)
    flush();
}

static void set_string(uint32_t key) { request("SET key:%u %.*s", key, (int)(20 + below(180)), filler); }

static void set_keys(uint32_t keys) {
  for (uint32_t i = 0; i < keys; i++) {
    if (i % 8 < 6)
      set_string(i);
    else if (i % 8 == 6)
      request("HSET key:%u name customer_%u note %.*s", i, i, (int)(80 + below(300)), filler);
    else
      request("RPUSH key:%u first_%u %.*s", i, i, (int)(20 + below(80)), filler);
  }
}

/* Which has a string, a record or a list by the rest of its number. */
static uint32_t any_key(uint32_t keys, uint32_t rest) {
  uint32_t most = below(10) ? keys / 10 : keys;
  return below(most / 8) * 8 + rest;
}

static void get_or_set(uint32_t keys) {
  if (below(10) < 7)
    request("GET key:%u", any_key(keys, below(6)));
  else
    set_string(any_key(keys, below(6)));
}

static void mixed(uint32_t keys) {
  uint32_t kind = below(100);
  if (kind < 40)
    request("GET key:%u", any_key(keys, below(6)));
  else if (kind < 55)
    request("HGET key:%u name", any_key(keys, 6));
  else if (kind < 65)
    request("HSET key:%u note %.*s", any_key(keys, 6), (int)(80 + below(300)), filler);
  else if (kind < 75)
    set_string(any_key(keys, below(6)));
  else if (kind < 80)
    request("INCR count:%u", below(keys / 4));
  else if (kind < 88)
    request("ZADD ranks:%u %u member:%u", below(1000), below(1000), any_key(keys, 0));
  else if (kind < 93)
    request("RPUSH key:%u %.*s", any_key(keys, 7), (int)(20 + below(80)), filler);
  else if (kind < 96)
    request("LRANGE key:%u 0 9", any_key(keys, 7));
  else if (kind < 98)
    request("LPOP key:%u", any_key(keys, 7));
  else
    request("DEL key:%u", any_key(keys, below(6)));
}

static int ascending(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static void append_latencies(const char *path) {
  FILE *file = fopen(path, "a");
  if (!file)
    fail(path);
  qsort(latencies, latency_count, sizeof *latencies, ascending);
  fprintf(file, "%.1f %.1f\n", latencies[latency_count / 2], latencies[latency_count * 99 / 100]);
  fclose(file);
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fputs("usage: requests SOCKET KEYS REQUESTS SEED [LATENCIES]\n", stderr);
    return 2;
  }
  uint32_t keys = (uint32_t)atol(argv[2]) / 8 * 8, requests = (uint32_t)atol(argv[3]);
  random_state = strtoul(argv[4], NULL, 10);
  memset(filler, 'v', sizeof filler - 1);
  latencies = malloc((requests + UNDER_WAY) * sizeof *latencies);
  connect_to(argv[1]);
  set_keys(keys);
  drain();
  is_timed = true;
  for (uint32_t i = 0; i < requests; i++)
    i < requests / 2 ? get_or_set(keys) : mixed(keys);
  drain();
  if (argc > 5)
    append_latencies(argv[5]);
  printf("%016lx\n", checksum);
  static const char end[] = "*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n";
  return write(server, end, sizeof end - 1) < 0;
}
