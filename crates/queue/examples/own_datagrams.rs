//! FQ-CoDel for datagrams of one's own: two flows share a link of 10 Mbit/s. One of them sends twice its rate.
#![allow(clippy::print_stdout, reason = "an example prints")]

use sojourn_queue::standalone::{Ecn, Item, Options, Queue, Span, Time};

/// What this program sends.
struct Datagram {
    number: u32,
}

fn main() {
    let built = Queue::build("fq_codel limit=500p", &Options::default());
    let mut queue: Queue<Datagram> = built.expect("a queue");
    let (mut free, mut sent, mut marked, mut last) = (Time::ZERO, [0, 0], 0, 0);
    for number in 0..20_000 {
        // Flow 0 sends a datagram every 0.6 ms, flow 1 every sixth time.
        let now = Time::ZERO + Span::from_us(600) * u64::from(number);
        while free <= now
            && let Some(out) = queue.dequeue(free)
        {
            free += Span::from_us(1200); // 1500 bytes
            sent[usize::from(out.item.flow == 1)] += 1;
            marked += u32::from(out.marked.is_some());
            last = out.item.payload.number;
        }
        free = free.max(now); // Nothing waited.
        for flow in 0..=u32::from(number % 6 == 0) {
            let item = Item {
                flow,
                ecn: Ecn::Ect0,
                ..Item::new(1500, Datagram { number })
            };
            queue.enqueue(now, item).expect("a packet");
        }
    }
    let (dropped, wait) = (queue.take_dropped().len(), queue.len());
    println!("sent {sent:?} to number {last}, {marked} marked, {dropped} dropped, {wait} wait");
}
