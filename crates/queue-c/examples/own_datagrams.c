// Two flows of datagrams share a link of 10 Mbit/s under FQ-CoDel. One of them sends twice its rate.
#include "sojourn_queue.h"
#include <stdio.h>
#include <stdlib.h>

struct datagram { // What this program sends.
    unsigned number;
};

int main(void) {
    char error[200];
    SojournQueue *queue = sojourn_queue_build("fq_codel limit=500p", NULL, error, sizeof error);
    if (queue == NULL) return fprintf(stderr, "%s\n", error), 1;
    uint64_t link_free = 0;
    unsigned sent[2] = {0, 0}, marked = 0, dropped = 0, waiting = 0;
    SojournSent out;
    for (unsigned number = 0; number < 20000; number++) {
        uint64_t now = 600000ull * number; // Flow 0 sends every 0.6 ms, flow 1 every sixth time.
        while (link_free <= now && sojourn_queue_dequeue(queue, link_free, &out) == SOJOURN_STATUS_OK) {
            link_free += 1200000; // 1500 bytes take 1.2 ms.
            sent[out.item.flow]++;
            marked += out.marked != NULL;
            free(out.item.payload);
        }
        if (link_free < now) link_free = now; // Nothing waited.
        for (uint32_t flow = 0; flow <= (number % 6 == 0); flow++) {
            struct datagram *datagram = malloc(sizeof *datagram);
            datagram->number = number;
            SojournItem item = {.payload = datagram, .bytes = 1500, .flow = flow, .ecn = 2};
            if (sojourn_queue_enqueue(queue, now, &item) != SOJOURN_STATUS_OK)
                return fprintf(stderr, "%s\n", sojourn_queue_error(queue)), 1;
        }
    }
    for (SojournDropped drop; sojourn_queue_take_dropped(queue, &drop) == SOJOURN_STATUS_OK; dropped++)
        free(drop.item.payload);
    for (SojournItem item; sojourn_queue_drain(queue, &item) == SOJOURN_STATUS_OK; waiting++)
        free(item.payload);
    sojourn_queue_free(queue);
    printf("sent %u and %u, %u marked, %u dropped, %u waited\n", sent[0], sent[1], marked, dropped, waiting);
}
