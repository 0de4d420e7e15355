/* Ranks that sleep while they wait, for LD_PRELOAD. Where ranks outnumber cores, those of Open MPI that wait for others
 * look for news and call sched_yield, again and again. A rank that yields has to wait until all programs beside it had
 * their turn, and it takes turns from ranks that compute. One that sleeps does neither. */
#include <time.h>

int sched_yield(void) {
  const struct timespec pause = {0, 50000}; /* [s], [ns] */
  nanosleep(&pause, 0);
  return 0;
}
