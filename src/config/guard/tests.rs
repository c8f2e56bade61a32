use std::path::PathBuf;
use std::{env, fs, process};

use axum::http::header;
use clap::Parser;

use super::*;
use crate::config::{Config, Flags, Site};

fn config(flags: &[&str]) -> Result<Guards, Vec<String>> {
    let config = Config::try_from(&Flags::parse_from([&["taquin"], flags].concat()));
    config.map(|config| config.guards).map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

/// A token file, removed on drop.
struct TokenFile(PathBuf);

impl TokenFile {
    fn new(name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = env::temp_dir().join(format!("taquin-{}-{name}", process::id()));
        fs::write(&path, text).unwrap();
        Self(path)
    }

    fn config(&self) -> Result<Guards, Vec<String>> {
        config(&["--token-file", self.0.to_str().unwrap()])
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn guards_are_off_by_default_and_if_empty() {
    let empty =
        ["--token-file=", "--rate-limit=", "--rate-burst=", "--cors-origins=", "--frame-origins=", "--allowed-hosts="];
    for flags in [&[][..], &empty] {
        let Config { guards, site, .. } = Config::try_from(&Flags::parse_from([&["taquin"], flags].concat())).unwrap();
        assert_eq!(format!("{guards:?}"), format!("{:?}", Guards::default()));
        assert_eq!(site, Site::default());
    }
}

#[test]
fn a_blank_setting_of_a_guard_is_an_error() {
    for flag in ["token-file", "rate-limit", "rate-burst", "cors-origins", "frame-origins", "allowed-hosts"] {
        for blank in [" ", "\t", " \n "] {
            let errors = config(&[&format!("--{flag}={blank}")]).unwrap_err();
            assert!(errors.len() == 1 && errors[0].contains("is blank"), "{flag}: {errors:?}");
        }
    }
}

#[test]
fn allowed_hosts_are_names_without_ports() {
    let hosts = config(&["--allowed-hosts= Taquin.example.org,host_1 ,"]).unwrap().allowed_hosts;
    assert_eq!(hosts, ["taquin.example.org", "host_1"]);
    for bad in ["example.org:8080", "https://example.org", "exämple.org", "*.example.org", "a b", "[::1]", ","] {
        let errors = config(&[&format!("--allowed-hosts={bad}")]).unwrap_err();
        assert!(errors.len() == 1 && errors[0].contains("host name"), "{bad}: {errors:?}");
    }
}

#[test]
fn a_token_file_has_one_token_a_line_and_comments() {
    let text = "# ours\n\nabcdefghijklmnop\r\n  0123456789-._~+/==  \n# theirs\nABCDEFGHIJKLMNOPQ";
    let tokens = TokenFile::new("good", text).config().unwrap().tokens;
    let is_accepted = |token: &str| {
        let credentials = [(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap())];
        tokens.check(&credentials.into_iter().collect()).is_ok()
    };
    assert!(["abcdefghijklmnop", "0123456789-._~+/==", "ABCDEFGHIJKLMNOPQ"].into_iter().all(is_accepted));
    assert!(!["# ours", "# theirs", "abcdefghijklmno", ""].into_iter().any(is_accepted));
    assert_eq!(format!("{tokens:?}"), "Tokens(3)");
}

#[test]
fn an_error_names_the_line_of_an_invalid_token_not_its_text() {
    for bad in [
        "abcdefghijklmno",
        "secret words with blanks",
        "secretüsecretüsecret",
        "secret=secret=secret",
        "================",
        "Bearer:secretsecret",
    ] {
        let errors = TokenFile::new("bad", format!("# ours\nabcdefghijklmnop\n{bad}\n")).config().unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].contains("line 3: a token must have at least 16 characters"), "{errors:?}");
        assert!(!errors[0].contains(bad) && !errors[0].contains("secret"), "{errors:?}");
    }
    let errors = TokenFile::new("worse", b"\xff\xfe\n".repeat(20)).config().unwrap_err();
    assert_eq!(errors.len(), MAX_LINES_REPORTED, "{errors:?}");
}

#[test]
fn a_file_without_tokens_or_with_too_many_is_an_error() {
    for empty in ["", "\n \n", "# none\n"] {
        let errors = TokenFile::new("empty", empty).config().unwrap_err();
        assert!(errors.len() == 1 && errors[0].ends_with("contains no token"), "{errors:?}");
    }
    let token = |number: usize| format!("abcdefghijklmnop{number}\n");
    let most = TokenFile::new("most", (0..1024).map(token).collect::<String>()).config().unwrap();
    assert_eq!(format!("{:?}", most.tokens), "Tokens(1024)");
    let errors = TokenFile::new("many", (0..1025).map(token).collect::<String>()).config().unwrap_err();
    assert!(errors.len() == 1 && errors[0].ends_with("contains 1025 tokens, the limit is 1024"), "{errors:?}");
    let errors = TokenFile::new("large", "#".repeat(1 << 20) + "#").config().unwrap_err();
    assert!(errors.len() == 1 && errors[0].contains("longer than 1048576 bytes"), "{errors:?}");
}

#[test]
fn an_unreadable_token_file_is_an_error_except_for_the_health_check() {
    for path in ["/nowhere/tokens", "/"] {
        let errors = config(&["--token-file", path]).unwrap_err();
        let expected = format!("--token-file (TAQUIN_TOKEN_FILE): {path:?} cannot be read: ");
        assert!(errors.len() == 1 && errors[0].starts_with(&expected), "{errors:?}");
        assert!(config(&["--token-file", path, "healthcheck"]).unwrap().tokens.is_empty());
    }
}

#[test]
fn a_rate_is_a_number_and_a_period() {
    let rate = |text: &str| {
        let rate = config(&["--rate-limit", text]).unwrap().rate.unwrap();
        (rate.requests.get(), rate.period.as_millis(), rate.burst.get())
    };
    for (text, expected) in [
        ("100/1m", (100, 60_000, 100)),
        ("20/s", (20, 1_000, 20)),
        (" 5 / h ", (5, 3_600_000, 5)),
        ("1/24h", (1, 86_400_000, 1)),
        ("100000/1ms", (100_000, 1, 100_000)),
        ("3/1min 30s", (3, 90_000, 3)),
    ] {
        assert_eq!(rate(text), expected, "{text}");
    }
    let burst = config(&["--rate-limit=20/s", "--rate-burst=7"]).unwrap().rate.unwrap().burst;
    assert_eq!(burst.get(), 7);
}

#[test]
fn an_invalid_rate_is_an_error() {
    for text in ["100", "100/", "/s", "0/s", "-1/s", "1.5/s", "100001/s", "many/s", "5/5", "5/0s", "5/25h", "5/s/s"] {
        let errors = config(&[&format!("--rate-limit={text}")]).unwrap_err();
        assert!(errors.len() == 1 && errors[0].contains("such as 100/1m or 20/s"), "{text}: {errors:?}");
    }
    for flag in
        ["--rate-burst=0", "--rate-burst=x", "--rate-burst=100001", "--trusted-proxies=17", "--trusted-proxies=-1"]
    {
        assert_eq!(config(&["--rate-limit=1/s", flag]).unwrap_err().len(), 1, "{flag}");
    }
}

#[test]
fn origins_are_a_list_or_a_star() {
    let origins = |text: &str| config(&["--cors-origins", text]).unwrap().cors_origins;
    assert_eq!(origins("*"), ["*"]);
    assert_eq!(
        origins("https://Example.org, http://localhost:3000,http://[::1]:8000,tauri://localhost,"),
        ["https://example.org", "http://localhost:3000", "http://[::1]:8000", "tauri://localhost"]
    );
}

#[test]
fn an_invalid_origin_is_an_error() {
    for text in [
        "example.org",
        "https://example.org/",
        "https://example.org/path",
        "https://example.org?x",
        "https://user@example.org",
        "https://",
        "https://:80",
        "https://example.org:",
        "https://example.org:0",
        "https://example.org:65536",
        "https://example.org:+80",
        "https://exämple.org",
        "https://*.example.org",
        "http://::1",
        "http://[::1",
        "://example.org",
        "null",
    ] {
        let errors = config(&["--cors-origins", text]).unwrap_err();
        assert!(errors.len() == 1 && errors[0].contains("is not an origin"), "{text}: {errors:?}");
    }
    for (text, expected) in
        [("*,https://a.example", "must be alone"), ("https://a.example:443", "omit it"), (",", "contains no origin")]
    {
        let errors = config(&["--cors-origins", text]).unwrap_err();
        assert!(errors.len() == 1 && errors[0].contains(expected), "{text}: {errors:?}");
    }
    assert_eq!(config(&["--cors-origins=a,b,https://c.example"]).unwrap_err().len(), 2, "each is reported");
}
