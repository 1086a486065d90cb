//! What the module exports. Whoever calls writes a request to where [`sojourn_input`] says, calls [`sojourn_call`], and reads the
//! answer and the numbers beside it.
//!
//! An export has a name of its own, which Rust wants to be called unsafe, because two functions of one name would be undefined behaviour;
//! these have names that nothing else has. The addresses are for the caller: nothing here follows one.

#![allow(
    unsafe_code,
    reason = "the attribute no_mangle; there is no unsafe block"
)]

use std::cell::RefCell;
use std::sync::Once;

use crate::calls::Module;

static HOOK: Once = Once::new();

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes room for a request of a given number of bytes, and says where.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_input(length: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        module.input = vec![0; length];
        module.input.as_mut_ptr()
    })
}

/// Carries the request out, and says how long the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_call() -> usize {
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let text = panic.to_string();
            PANIC.with_borrow_mut(|last| last.clone_from(&text));
        }));
    });
    MODULE.with_borrow_mut(|module| {
        module.call();
        module.output.len()
    })
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_output() -> *const u8 {
    MODULE.with_borrow(|module| module.output.as_ptr())
}

/// How many numbers there are beside the answer.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_count() -> usize {
    MODULE.with_borrow(|module| module.numbers.len())
}

/// Where the numbers beside the answer are.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_numbers() -> *const f64 {
    MODULE.with_borrow(|module| module.numbers.as_ptr())
}

/// How long the message is of the panic that ended a call with a trap.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_panic_length() -> usize {
    PANIC.with_borrow(String::len)
}

/// Where that message is.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_panic() -> *const u8 {
    PANIC.with_borrow(|text| text.as_ptr())
}
