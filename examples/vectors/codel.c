/* CoDel by the pseudo-code of RFC 8289, speaking the protocol of `sojourn vectors check`.
 *
 *     cc -O2 -o codel examples/vectors/codel.c -lm
 *     sojourn vectors check --queue codel-rfc8289 --exec ./codel
 *
 * The header and the events come on standard input; each event is answered with one line. See docs/vectors.md. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY 4096

struct packet {
    unsigned number;
    unsigned size;
    bool capable;
    long long arrived;
};

static struct {
    double target, interval; /* nanoseconds, as all times */
    unsigned maxpacket, limit;
    bool ecn;
    struct packet fifo[CAPACITY];
    unsigned head, length, bytes;
    double first_above; /* negative: below the target when last looked at */
    double drop_next;
    unsigned count, lastcount;
    bool dropping;
} q = {.first_above = -1};

static double nanoseconds(const char *text)
{
    char *unit;
    double value = strtod(text, &unit);
    if (!strncmp(unit, "ns", 2))
        return value;
    if (!strncmp(unit, "us", 2))
        return value * 1e3;
    if (!strncmp(unit, "ms", 2))
        return value * 1e6;
    return value * 1e9;
}

static void say(const char *what, unsigned packet, const char *reason)
{
    printf("%s %u%s%s; ", what, packet, *reason ? " " : "", reason);
}

/* The head, and whether the sojourn time has been above the target for an interval; false if there is no head. */
static bool take(long long now, struct packet *packet, bool *ok_to_drop)
{
    *ok_to_drop = false;
    if (q.length == 0) {
        q.first_above = -1;
        return false;
    }
    *packet = q.fifo[q.head];
    q.head = (q.head + 1) % CAPACITY;
    q.length--;
    q.bytes -= packet->size;
    if (now - packet->arrived < q.target || q.bytes <= q.maxpacket)
        q.first_above = -1;
    else if (q.first_above < 0)
        q.first_above = now + q.interval;
    else
        *ok_to_drop = now >= q.first_above;
    return true;
}

static double spacing(void)
{
    return q.interval / sqrt(q.count);
}

static bool mark(const struct packet *packet)
{
    if (!q.ecn || !packet->capable)
        return false;
    say("mark", packet->number, "target_exceeded");
    return true;
}

static void depart(long long now)
{
    struct packet packet;
    bool ok_to_drop;
    bool have = take(now, &packet, &ok_to_drop);
    if (q.dropping) {
        if (!ok_to_drop)
            q.dropping = false;
        while (q.dropping && now >= q.drop_next) {
            q.count++;
            if (mark(&packet)) {
                q.drop_next += spacing();
                break;
            }
            say("drop", packet.number, "target_exceeded");
            have = take(now, &packet, &ok_to_drop);
            if (!ok_to_drop)
                q.dropping = false;
            else
                q.drop_next += spacing();
        }
    } else if (ok_to_drop) {
        if (!mark(&packet)) {
            say("drop", packet.number, "target_exceeded");
            have = take(now, &packet, &ok_to_drop);
        }
        q.dropping = true;
        unsigned delta = q.count - q.lastcount;
        q.count = 1;
        if (delta > 1 && now - q.drop_next < 16 * q.interval)
            q.count = delta;
        q.drop_next = now + spacing();
        q.lastcount = q.count;
    }
    if (have)
        say("sent", packet.number, "");
}

static void arrive(struct packet packet)
{
    if (q.length == q.limit) {
        say("drop", packet.number, "overlimit");
        return;
    }
    q.fifo[(q.head + q.length) % CAPACITY] = packet;
    q.length++;
    q.bytes += packet.size;
}

int main(void)
{
    char line[4096], *value;
    bool codel = false, rfc = false;
    while (fgets(line, sizeof line, stdin) && strncmp(line, "events ", 7)) {
        line[strcspn(line, "\n")] = 0;
        if (!(value = strrchr(line, ' ')))
            continue;
        *value++ = 0;
        if (!strcmp(line, "discipline"))
            codel = !strcmp(value, "codel");
        else if (!strcmp(line, "dialect"))
            rfc = !strcmp(value, "rfc8289");
        else if (!strcmp(line, "parameter target"))
            q.target = nanoseconds(value);
        else if (!strcmp(line, "parameter interval"))
            q.interval = nanoseconds(value);
        else if (!strcmp(line, "parameter mtu"))
            q.maxpacket = (unsigned)atoi(value);
        else if (!strcmp(line, "parameter limit"))
            q.limit = (unsigned)atoi(value);
        else if (!strcmp(line, "parameter ecn"))
            q.ecn = !strcmp(value, "true");
    }
    if (!codel || !rfc || q.limit >= CAPACITY) {
        puts("unsupported");
        return 0;
    }
    while (fgets(line, sizeof line, stdin)) {
        struct packet packet;
        unsigned flow, ecn;
        long long now;
        if (sscanf(line, "arrive %lld %u %u %u %u", &now, &packet.number, &packet.size, &flow, &ecn) == 5) {
            packet.capable = ecn != 0;
            packet.arrived = now;
            arrive(packet);
        } else if (sscanf(line, "depart %lld", &now) == 1) {
            depart(now);
        }
        printf("state %u %u %d %.12f %.12f\n", q.count, q.lastcount, q.dropping, q.drop_next / 1e9,
               q.first_above < 0 ? 0 : q.first_above / 1e9);
    }
    return 0;
}
