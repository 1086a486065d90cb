#ifndef SOJOURN_QUEUE_H
#define SOJOURN_QUEUE_H

#include <stddef.h>
#include <stdint.h>

// The queues of Sojourn for packets of your own type, with time as an argument.
//
// Written by cbindgen from crates/queue-c/src/lib.rs; do not edit. docs/how-to/use-a-queue-elsewhere.md explains it.
//
// Rules:
// - A queue is used by one thread at a time. Different queues do not know of each other.
// - A pointer to a queue comes from sojourn_queue_build and was not freed. Other pointers refer to what their type says.
//   NULL is refused with SOJOURN_STATUS_NULL_POINTER, unless a function says what it stands for.
// - The library keeps no pointer but payloads, and never looks at what a payload refers to.
// - Each payload that was enqueued comes back once: sent, dropped or drained.
// - Times are nanoseconds from zero, at most 212 days, and must not decrease from call to call.

// Flows are numbered from 0 to below this. A hash modulo it is fine.
#define SOJOURN_MAX_FLOWS 1048576

// The bytes of the largest packet.
#define SOJOURN_MAX_BYTES 1048576

// What came of a call. sojourn_queue_error has the text of what went wrong.
typedef enum SojournStatus {
  // Done.
  SOJOURN_STATUS_OK = 0,
  // There is nothing to give.
  SOJOURN_STATUS_NOTHING = 1,
  // A pointer is NULL. Nothing was done.
  SOJOURN_STATUS_NULL_POINTER = 2,
  // A number in the packet is out of range. The queue did not take it.
  SOJOURN_STATUS_BAD_ITEM = 3,
  // The time is before that of an earlier call, or after 212 days. Nothing was done.
  SOJOURN_STATUS_BAD_TIME = 4,
  // The rate is zero. Nothing was done.
  SOJOURN_STATUS_BAD_RATE = 5,
  // A fault of the library. The queue still gives back what was dropped and what waits, and can be freed; every other call
  // returns this status.
  SOJOURN_STATUS_BROKEN = 6,
} SojournStatus;

// A queue.
typedef struct SojournQueue SojournQueue;

// Source and destination host of a flow.
typedef struct SojournHosts {
  // Number of the host that sends.
  uint32_t source;
  // Number of the host that receives.
  uint32_t destination;
} SojournHosts;

// What a queue needs to know beside its text.
typedef struct SojournOptions {
  // Seed of the random draws of the discipline.
  uint64_t seed;
  // Name of the queue; queues of one seed draw independently if their names differ. NULL stands for "queue".
  const char *name;
  // Rate of the link behind the queue in bits per second, not zero. PIE, CAKE and others compute with it.
  uint64_t rate_bps;
  // The hosts of each flow, by number, for disciplines that hash by address. NULL if hosts_len is 0.
  const struct SojournHosts *hosts;
  // How many there are. Further flows have hosts 0 and 0.
  size_t hosts_len;
} SojournOptions;

// A packet, with what a discipline may look at.
typedef struct SojournItem {
  // The packet itself, of any type; it may be NULL.
  void *payload;
  // Bytes on the wire, 1 to SOJOURN_MAX_BYTES.
  uint32_t bytes;
  // The flow that it belongs to, below SOJOURN_MAX_FLOWS.
  uint32_t flow;
  // The ECN codepoint of the IP header: 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE.
  uint8_t ecn;
  // The differentiated services codepoint, 0 to 63.
  uint8_t dscp;
} SojournItem;

// A packet to send.
typedef struct SojournSent {
  // The packet, with the ECN codepoint that it has now.
  struct SojournItem item;
  // Why the discipline marked it, such as "early"; NULL if it did not.
  const char *marked;
  // How long it waited, in nanoseconds.
  uint64_t waited_ns;
} SojournSent;

// A packet that the discipline dropped.
typedef struct SojournDropped {
  // The packet, with the ECN codepoint that it had in the end.
  struct SojournItem item;
  // Why, such as "overlimit".
  const char *reason;
  // The time of the call during which it was dropped, in nanoseconds.
  uint64_t at_ns;
} SojournDropped;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Builds the queue that a text describes, such as "fq_codel target=5ms limit=1000p". `sojourn list queues` lists the queues,
// `sojourn show fq_codel` their parameters.
//
// Options may be NULL: seed 1, 10 Mbit/s, no hosts. If the text or an option is wrong, returns NULL and writes what is wrong to
// `error`, which has room for `error_size` bytes; NULL if you do not want to know.
struct SojournQueue *sojourn_queue_build(const char *text,
                                         const struct SojournOptions *options,
                                         char *error,
                                         size_t error_size);

// Frees a queue; NULL is fine. Payloads that wait are yours: drain them before.
void sojourn_queue_free(struct SojournQueue *queue);

// Takes the packet that arrives at `now_ns`. The discipline may drop it, or others: see sojourn_queue_take_dropped. With any
// other status than SOJOURN_STATUS_OK the payload is still yours; with SOJOURN_STATUS_BROKEN, unless sojourn_queue_drain gives it.
enum SojournStatus sojourn_queue_enqueue(struct SojournQueue *queue,
                                         uint64_t now_ns,
                                         const struct SojournItem *item);

// Gives the packet to send at `now_ns`, when your link is free. Returns SOJOURN_STATUS_NOTHING if nothing waits or a shaper
// holds it back.
enum SojournStatus sojourn_queue_dequeue(struct SojournQueue *queue,
                                         uint64_t now_ns,
                                         struct SojournSent *sent);

// Says when to call sojourn_queue_dequeue again after it gave nothing at `now_ns` although packets wait. Returns
// SOJOURN_STATUS_NOTHING if nothing waits, or only another packet can change the answer.
enum SojournStatus sojourn_queue_ready_at(struct SojournQueue *queue,
                                          uint64_t now_ns,
                                          uint64_t *at_ns);

// Gives one of the packets that were dropped, in their order. Call it until it returns SOJOURN_STATUS_NOTHING, now and then.
enum SojournStatus sojourn_queue_take_dropped(struct SojournQueue *queue,
                                              struct SojournDropped *dropped);

// Takes out all packets that wait, and gives the first of them, in order of arrival; the next calls give the others. Call it
// until it returns SOJOURN_STATUS_NOTHING. The discipline starts anew, as if nothing had arrived before; time goes on.
enum SojournStatus sojourn_queue_drain(struct SojournQueue *queue,
                                       struct SojournItem *item);

// The rate of the link is `rate_bps` bits per second from now on, not zero.
enum SojournStatus sojourn_queue_set_rate(struct SojournQueue *queue, uint64_t rate_bps);

// Packets that wait; 0 for NULL.
uint64_t sojourn_queue_packets(const struct SojournQueue *queue);

// Bytes that wait; 0 for NULL.
uint64_t sojourn_queue_bytes(const struct SojournQueue *queue);

// The latest time of a call in nanoseconds, 0 before the first and for NULL. No call may be earlier.
uint64_t sojourn_queue_now(const struct SojournQueue *queue);

// What was wrong with the last call that failed on this queue; empty if none did. The text lives until the next call on the
// queue.
const char *sojourn_queue_error(const struct SojournQueue *queue);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SOJOURN_QUEUE_H */
