//! The date of a page.

use jiff::Timestamp;

/// Today, as 2026-11-16; `SOURCE_DATE_EPOCH` (seconds since 1970) sets it, for output that can be
/// reproduced. What that says is taken or nothing: a page with another date than was asked for
/// would not be the same page.
pub(super) fn today() -> String {
    let moment = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => seconds.trim().parse().ok().and_then(|seconds| Timestamp::from_second(seconds).ok()),
        Err(_) => Some(Timestamp::now()),
    };
    moment.map(|moment| moment.strftime("%Y-%m-%d").to_string()).unwrap_or_default()
}
