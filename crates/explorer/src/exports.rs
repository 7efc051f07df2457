//! The functions of the WebAssembly module.
//!
//! The caller reserves room for a request (`request`), writes its UTF-8 there, calls `ask`, which
//! returns where the reply begins, and reads `reply_length` bytes. Both buffers belong to this
//! module, so no pointer is ever dereferenced here and there is no unsafe block; strings are all
//! that crosses the border, so no generated bindings are needed either.

#![allow(unsafe_code, reason = "a function that is exported under its own name; see Cargo.toml")]

use std::cell::RefCell;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static REPLY: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes room for a request of so many bytes, and returns where it is to be written.
#[unsafe(no_mangle)]
pub extern "C" fn request(length: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(length, 0);
        request.as_mut_ptr()
    })
}

/// Answers the request, and returns where the reply begins. It stays there until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> *const u8 {
    let request = REQUEST.take();
    REPLY.with_borrow_mut(|reply| {
        *reply = crate::answer(&String::from_utf8_lossy(&request));
        reply.as_ptr()
    })
}

/// How many bytes the reply has.
#[unsafe(no_mangle)]
pub extern "C" fn reply_length() -> usize {
    REPLY.with_borrow(String::len)
}
