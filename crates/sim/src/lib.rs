//! The event core: clock, event list, packets, links, nodes, routing, random streams, traces.
