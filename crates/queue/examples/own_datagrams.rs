//! FQ-CoDel for datagrams of one's own: two flows share a link of 10 Mbit/s. One of them sends twice its rate.
#![allow(clippy::print_stdout, reason = "an example prints")]

use sojourn_queue::standalone::{Ecn, Item, Options, Queue, Span, Time};

/// What this program sends.
struct Datagram {
    number: u32,
}

fn main() {
    let options = Options::default();
    let mut queue: Queue<Datagram> =
        Queue::build("fq_codel limit=500p", &options).expect("a queue");
    let (mut free, mut sent, mut marked, mut last) = (Time::ZERO, [0, 0], 0, 0);
    for number in 0..20_000 {
        // Flow 0 sends a datagram every 0.6 ms, flow 1 every sixth time.
        let now = Time::ZERO + Span::from_us(600) * u64::from(number);
        // What leaves before.
        while free <= now
            && let Some(out) = queue.dequeue(free)
        {
            // The link sends 1500 bytes in 1.2 ms.
            free += Span::from_us(1200);
            sent[usize::from(out.item.flow == 1)] += 1;
            marked += u32::from(out.marked.is_some());
            last = out.item.payload.number;
        }
        // If nothing waited, the link is still free.
        free = free.max(now);
        for flow in 0..=u32::from(number % 6 == 0) {
            let item = Item {
                flow,
                ecn: Ecn::Ect0,
                ..Item::new(1500, Datagram { number })
            };
            queue.enqueue(now, item).expect("a packet");
        }
    }
    let dropped = queue.take_dropped().len();
    let waiting = queue.len();
    println!(
        "sent {sent:?} up to number {last}, {marked} marked, {dropped} dropped, {waiting} wait"
    );
}
