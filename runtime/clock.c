#include "clock.h"

#include "os.h"

#define MEASURED_NS UINT64_C(20000000) /* how long ticks are compared with the clock: an error of 1e-5 at most */
#define WINDOW_NS   UINT64_C(1000000)  /* which then is 10 ns */

uint64_t hearth_clock_rate, hearth_clock_window;

static bool has_ticks;
static uint64_t first_ticks, first_ns;

void hearth_clock_begin(void) {
  has_ticks = hearth_os_has_ticks();
  first_ticks = hearth_os_ticks();
  first_ns = hearth_os_now_ns();
}

/* All threads that come here at once find nearly the same. */
static void measure(uint64_t ticks, uint64_t ns) {
  if (!has_ticks || ns - first_ns < MEASURED_NS || ticks <= first_ticks)
    return;
  double ns_per_tick = (double)(ns - first_ns) / (double)(ticks - first_ticks);
  if (ns_per_tick > 100) /* no processor is so slow: the ticks stood still while the machine slept */
    return;
  __atomic_store_n(&hearth_clock_window, (uint64_t)((double)WINDOW_NS / ns_per_tick), __ATOMIC_RELAXED);
  __atomic_store_n(&hearth_clock_rate, (uint64_t)(ns_per_tick * 4294967296.0), __ATOMIC_RELEASE);
}

uint64_t hearth_clock_read(void) {
  uint64_t ticks = hearth_os_ticks(), ns = hearth_os_now_ns();

  if (hearth_section_is_nested()) /* may have interrupted what follows */
    return ns;
  hearth_this_thread.clock_ticks = ticks;
  hearth_this_thread.clock_ns = ns;
  if (!hearth_clock_rate)
    measure(ticks, ns);
  return ns;
}
