//! The pcapng capture file (draft-ietf-opsawg-pcapng). Its blocks are read where the records of pcap are.

use crate::read::form::{Content, Form, Layout, no_line};

pub(crate) const FORM: Form = Form {
    name: "pcapng",
    title: "a pcapng capture",
    begins: &[&[0x0a, 0x0d, 0x0d, 0x0a]],
    has_line: no_line,
    content: Content::Capture(Layout::Blocks),
};
