//! The page at `/`: one file without anything from elsewhere, which draws what `/v1/status` says.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const PAGE: &str = include_str!("page/page.html");
const SCRIPT: &str = include_str!("page/page.js");

/// The look of the report pages, and what only this page has.
static STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", shuffledp_report::STYLE, include_str!("page/page.css")));

static WHOLE: LazyLock<String> = LazyLock::new(|| PAGE.replace("{style}", &STYLE).replace("{script}", SCRIPT));

/// Only this style and this script, and requests only to where the page came from.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "default-src 'none'; style-src {}; script-src {}; connect-src 'self'; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        source(&STYLE),
        source(SCRIPT)
    )
});

fn source(text: &str) -> String {
    format!("'sha256-{}'", Base64::encode_string(&Sha256::digest(text)))
}

/// `GET /`.
pub(super) async fn page() -> Response {
    let mut headers = HeaderMap::new();
    // The policy is made of characters that a header may have.
    if let Ok(policy) = HeaderValue::from_str(&POLICY) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    (headers, Html(WHOLE.as_str())).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_page_is_whole_and_its_policy_allows_it_and_nothing_else() {
        let response = page().await;
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        for (start, end) in [("<style>", "</style>"), ("<script>", "</script>")] {
            let inside = WHOLE.split_once(start).unwrap().1.split_once(end).unwrap().0;
            assert!(policy.contains(&source(inside)), "{start}");
        }
        // Nothing that a browser would fetch from elsewhere, or that the policy would refuse.
        let addresses = WHOLE.matches("http").count();
        assert_eq!(addresses, WHOLE.matches("http://www.w3.org/2000/svg").count());
        assert!(!WHOLE.contains("src=") && !WHOLE.contains("style=") && !WHOLE.contains("innerHTML"));
    }
}
