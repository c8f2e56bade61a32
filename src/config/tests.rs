use clap::ValueEnum;
use taquin_solver::heuristic::Tier;
use tracing::Level;

use super::memory::recorded_expansion;
use super::parse::parse_size;
use super::*;
use crate::jobs::JobSettings;

fn config(flags: &[&str]) -> Result<Config, Vec<ConfigError>> {
    Config::try_from(&Flags::parse_from([&["taquin"], flags].concat()))
}

fn errors(flags: &[&str]) -> Vec<String> {
    config(flags).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn every_setting_has_a_default() {
    let config = config(&[]).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    let ServiceSettings { workers, queue, default_time, max_time, search_memory, tables, ready, .. } = config.service;
    assert_eq!((queue, config.http.max_body, search_memory), (256, 65_536, 512 << 20));
    assert_eq!((default_time.as_secs(), max_time.as_secs()), (10, 60));
    assert_eq!((config.max_connections, config.admin_listen), (16_384, None));
    let Timeouts { header, keep_alive, write, age } = config.timeouts;
    assert_eq!([header, keep_alive, write].map(|time| time.as_secs()), [10, 75, 30]);
    assert_eq!((config.http.body_timeout.as_secs(), age), (10, None));
    assert_eq!((tables, ready), (Tier::Standard, Tier::Small));
    assert!((1..=256).contains(&workers));
    assert!(!config.http.strict_content_type);
}

#[test]
fn every_setting_has_the_environment_variable_of_its_name_and_none_reads_the_port() {
    for arg in Flags::command()
        .get_arguments()
        .filter(|arg| !["help", "version", "check_config"].contains(&arg.get_id().as_str()))
    {
        let flag = arg.get_long().unwrap();
        let variable = arg.get_env().unwrap().to_str().unwrap();
        assert_eq!(variable, format!("TAQUIN_{}", flag.to_uppercase().replace('-', "_")));
        // Kubernetes sets it to tcp://… for a service called taquin.
        assert_ne!(variable, "TAQUIN_PORT");
        assert!(arg.get_help().is_some(), "{flag}");
    }
}

#[test]
fn all_errors_are_reported_together() {
    let errors = errors(&[
        "--listen=localhost",
        "--admin-listen=9090",
        "--max-connections=0",
        "--workers=0",
        "--queue=many",
        "--shutdown-grace=10",
        "--max-time=0s",
        "--search-memory=1TiB",
        "--max-body=1GiB",
        "--header-timeout=0s",
        "--keep-alive-timeout=75",
        "--max-connection-age=0s",
        "--write-timeout=2days",
        "--strict-content-type=maybe",
        "--tables=huge",
        "--ready=soon",
        "--log=taquin=loud",
        "--log-format=xml",
        "--otlp-endpoint=https://collector:4318",
        "--otlp-sample=1.5",
    ]);
    assert_eq!(errors.len(), 20, "{errors:#?}");
    for start in [
        "--admin-listen (TAQUIN_ADMIN_LISTEN): \"9090\" is not an IP address",
        "--max-connections (TAQUIN_MAX_CONNECTIONS): \"0\" is not a whole number from 1 to 1000000",
        "--workers (TAQUIN_WORKERS): \"0\" is not a whole number from 1 to 256",
        "--shutdown-grace (TAQUIN_SHUTDOWN_GRACE): \"10\" is not a duration, because the unit is missing: write 10ms, 10s, \
         10m or 10h",
    ] {
        assert_eq!(errors.iter().filter(|error| error.starts_with(start)).count(), 1, "{start}: {errors:#?}");
    }
}

#[test]
fn a_default_time_above_the_maximum_is_an_error_if_both_are_valid() {
    assert_eq!(
        errors(&["--time-limit=2m", "--max-time=1m"]),
        ["--time-limit (TAQUIN_TIME_LIMIT): is longer than --max-time: lower it, or raise --max-time"]
    );
    assert_eq!(errors(&["--max-time=x"]).len(), 1);
}

#[test]
fn tables_to_be_ready_are_among_those_that_are_built() {
    for (tables, ready) in [("small", "small"), ("standard", "small"), ("large", "standard"), ("large", "large")] {
        config(&["--tables", tables, "--ready", ready]).unwrap();
    }
    for (tables, ready) in [("small", "standard"), ("small", "large"), ("standard", "large")] {
        assert_eq!(
            errors(&["--tables", tables, "--ready", ready]),
            ["--ready (TAQUIN_READY): names tables that --tables does not build: lower it, or raise --tables"]
        );
    }
    assert_eq!(errors(&["--tables=x", "--ready=large"]).len(), 1);
}

#[test]
fn an_empty_connection_age_is_no_limit() {
    assert_eq!(config(&["--max-connection-age="]).unwrap().timeouts.age, None);
    assert_eq!(config(&["--max-connection-age=5m"]).unwrap().timeouts.age, Some(Duration::from_secs(300)));
}

#[test]
fn sizes_take_units() {
    for (text, bytes) in [("0", 0), ("7", 7), ("7 B", 7), ("2kB", 2_000), ("2 KiB", 2_048), ("3MB", 3_000_000)] {
        assert_eq!(parse_size(text), Some(bytes), "{text}");
    }
    assert_eq!(parse_size("2gib"), Some(2 << 30));
    for text in ["", "KiB", "-1", "1.5MiB", "1TB", "99999999999999999999", "99999999999GiB"] {
        assert_eq!(parse_size(text), None, "{text}");
    }
}

#[test]
fn a_number_without_a_unit_is_answered_with_the_values_it_may_stand_for() {
    for (setting, fault) in [
        (
            "--memory=512",
            "is not between 67108864 and 1125899906842624 bytes; the unit is missing: write 512MiB or 512GiB",
        ),
        ("--max-body=64", "is not between 1024 and 16777216 bytes; the unit is missing: write 64KiB"),
        ("--max-body=5000000000", "is not between 1024 and 16777216 bytes"),
        ("--time-limit=5", "is not a duration, because the unit is missing: write 5ms, 5s, 5m or 5h"),
        ("--jobs-keep= 7 ", "is not a duration, because the unit is missing: write 7s, 7m, 7h or 7d"),
        ("--body-timeout=5.5.5", "is not a duration with a unit, such as 500ms, 10s or 1m"),
        ("--write-timeout=99999999999", "is not a duration with a unit, such as 500ms, 10s or 1m"),
    ] {
        let errors = errors(&[setting]);
        assert!(errors.len() == 1 && errors[0].ends_with(&format!("\" {fault}")), "{setting}: {errors:?}");
    }
}

/// Every setting of a size or a duration says that the unit is missing.
#[test]
fn all_sizes_and_durations_say_that_a_unit_is_missing() {
    for arg in Flags::command().get_arguments() {
        let kind = arg.get_value_names().and_then(<[_]>::first).map(ToString::to_string).unwrap_or_default();
        let number = match &*kind {
            "SIZE" => "900",
            "DURATION" => "9",
            _ => continue,
        };
        // So many bytes are valid.
        if ["cache_memory"].contains(&arg.get_id().as_str()) {
            continue;
        }
        let setting = format!("--{}={number}", arg.get_long().unwrap());
        let errors = errors(&[&setting]);
        assert!(errors.len() == 1 && errors[0].contains("the unit is missing: write 9"), "{setting}: {errors:?}");
    }
}

/// A secret in any setting, if only by mistake, is neither in the help nor in an error.
#[test]
fn secrets_are_not_printed() {
    const MARKER: &str = "hunter2";
    let mut hidden = 0;
    for arg in Flags::command().get_arguments() {
        let (Some(flag), true) = (arg.get_long(), arg.get_env().is_some()) else { continue };
        assert!(arg.is_hide_env_values_set(), "the help prints the value of --{flag}");
        for secret in
            ["http://user:hunter2@host:1/x", "nats://a,http://hunter2@b?k=hunter2", "u:hunter2@c", "http://d/?hunter2"]
        {
            let setting = format!("--{flag}={secret}");
            let errors = Config::try_from(&Flags::parse_from(["taquin", &setting])).err().unwrap_or_default();
            hidden += errors.len();
            let printed: String = errors.iter().map(ToString::to_string).collect();
            assert!(!printed.contains(MARKER), "{setting}: {printed}");
        }
    }
    assert!(hidden > 100, "most settings reject these: {hidden}");
    for flag in ["listen", "admin-listen", "otlp-endpoint", "cors-origins", "allowed-hosts"] {
        for secret in ["hunter2@host:4222", "user:hun://ter2@host", "host:x?hunter2"] {
            let errors = errors(&[&format!("--{flag}={secret}")]).concat();
            assert!(!errors.is_empty() && !errors.contains("hun"), "{flag}: {errors}");
        }
    }
}

#[test]
fn an_empty_admin_address_is_none() {
    assert_eq!(config(&["--admin-listen="]).unwrap().admin_listen, None);
    assert_eq!(config(&["--admin-listen=[::1]:9090"]).unwrap().admin_listen.unwrap().port(), 9090);
    config(&["--listen=[::1]:9090", "--admin-listen=[::1]:9090"]).unwrap_err();
    config(&["--listen=localhost:9090", "--admin-listen=:9090"]).unwrap_err();
    config(&["--listen=0.0.0.0:9090", "--admin-listen=127.0.0.1:9090"]).unwrap_err();
    assert!(config(&["--listen=127.0.0.2:9090", "--admin-listen=127.0.0.1:9090"]).is_ok());
    assert!(config(&["--listen=[::1]:0", "--admin-listen=[::1]:0"]).is_ok(), "each gets a port of its own");
}

#[test]
fn the_variable_port_counts_where_no_other_address_is_set() {
    let listen = |arguments: &[&str], port: &str| {
        let mut flags = Flags::parse_from([&["taquin"], arguments].concat());
        flags.port = Some(port.into());
        Config::try_from(&flags).map(|config| config.listen).map_err(|errors| errors[0].to_string())
    };
    for arguments in [&[][..], &["healthcheck"]] {
        let addr = listen(arguments, "9000").unwrap();
        assert!(addr.ip().is_unspecified() && addr.port() == 9000, "{arguments:?}: {addr}");
        assert_eq!(listen(arguments, "").unwrap().to_string(), "127.0.0.1:8080", "{arguments:?}");
        for port in ["tcp://10.0.0.1:80", "65536", "-1", "http", " 80", "+80"] {
            let error = listen(arguments, port).unwrap_err();
            let start = "--listen (TAQUIN_LISTEN): the variable PORT has the value ";
            assert!(error.starts_with(start) && error.contains(&format!("{port:?}")), "{error}");
        }
    }
    assert_eq!(listen(&["--listen=127.0.0.1:1"], "9000").unwrap().to_string(), "127.0.0.1:1");
    assert_eq!(listen(&["--listen=127.0.0.1:1"], "http").unwrap().to_string(), "127.0.0.1:1");
    assert_eq!(listen(&["--listen="], "").unwrap().to_string(), "127.0.0.1:8080");
    assert_eq!(listen(&["--listen="], "9000").unwrap().port(), 9000);
    assert_eq!(listen(&["batch", "--random", "3x3"], "http").unwrap().to_string(), "127.0.0.1:8080");
}

#[test]
fn listeners_take_names_and_ports_alone() {
    let config = config(&["--listen=localhost:9000", "--admin-listen=:9001"]).unwrap();
    assert!(config.listen.ip().is_loopback() && config.listen.port() == 9000);
    assert!(config.admin_listen.is_some_and(|addr| addr.ip().is_unspecified() && addr.port() == 9001));
    let errors = errors(&["--listen=no-such-host.invalid:9000"]);
    let start = "--listen (TAQUIN_LISTEN): \"no-such-host.invalid\" has no address";
    assert!(errors.len() == 1 && errors[0].starts_with(start), "{errors:?}");
}

#[test]
fn a_switch_works_with_and_without_a_value() {
    assert!(config(&["--strict-content-type"]).unwrap().http.strict_content_type);
    assert!(!config(&["--strict-content-type=off"]).unwrap().http.strict_content_type);
}

#[test]
fn the_health_check_is_a_subcommand() {
    let flags = Flags::parse_from(["taquin", "healthcheck", "--listen=127.0.0.1:1"]);
    assert_eq!(flags.command, Some(Command::Healthcheck));
    assert_eq!(Config::try_from(&flags).unwrap().listen.port(), 1);
}

#[test]
fn a_log_filter_has_levels_and_levels_of_targets() {
    let levels = [("taquin::job", Level::INFO), ("taquin::access", Level::INFO), ("hyper", Level::ERROR)];
    for (text, expected) in [
        ("info", [true, true, true]),
        ("info,", [true, true, true]),
        (" info , taquin::access = off", [true, false, true]),
        ("warn,taquin::job=info", [true, false, true]),
        ("off", [false, false, false]),
    ] {
        let filter = config(&["--log", text]).unwrap().log;
        assert_eq!(levels.map(|(target, level)| filter.would_enable(target, &level)), expected, "{text}");
    }
    for text in ["", ",", "inof", "taquin=loud", "[request]=debug", "taquin=", "info,taquin[request]=debug", "=info"] {
        assert_eq!(errors(&["--log", text]).len(), 1, "{text}");
    }
}

#[test]
fn memory_is_divided_and_too_little_is_an_error() {
    let plenty = config(&["--memory=8GiB", "--workers=2"]).unwrap().memory;
    assert_eq!((plenty.search, plenty.tables, plenty.cache), (512 << 20, 208 << 20, 32 << 20));
    let little = config(&["--memory=512MiB", "--workers=2"]).unwrap().memory;
    assert!(little.search >= 16 << 20 && little.search < 128 << 20, "{little:?}");
    assert!(little.tables < plenty.tables && little.cache < plenty.cache);
    assert_eq!(config(&["--memory=8GiB", "--workers=2", "--search-memory=1GiB"]).unwrap().memory.search, 1 << 30);
    for (args, flag) in [
        (["--memory=256MiB", "--workers=2"], "--memory"),
        (["--memory=512MiB", "--workers=64"], "--memory"),
        (["--memory=512MiB", "--tables=large"], "--memory"),
        (["--memory=1GiB", "--search-memory=2GiB"], "--search-memory"),
    ] {
        let errors = errors(&args);
        assert_eq!(errors.len(), 1, "{args:?}: {errors:?}");
        assert!(errors[0].starts_with(flag) && errors[0].contains("raise --memory"), "{errors:?}");
    }
    assert!(config(&["--memory=256MiB", "--workers=2", "--tables=small"]).is_ok());
}

#[test]
fn the_parts_of_the_memory_plan_do_not_exceed_the_whole() {
    for (memory, tables) in
        [("256MB", "small"), ("512MB", "standard"), ("1GB", "standard"), ("2GB", "large"), ("1TiB", "large")]
    {
        for workers in [1, 2, 4] {
            let flags =
                [&format!("--memory={memory}")[..], &format!("--tables={tables}"), &format!("--workers={workers}")];
            let Ok(Config { memory: plan, .. }) = config(&flags) else { continue };
            let MemoryPlan { total, base, tables, cache, searches, replies, requests, .. } = plan;
            assert_eq!(base + tables + cache + searches + replies + requests + plan.free(), total, "{plan}");
            assert!(plan.free() >= total / 50, "{plan}");
            let recorded = plan.expansions * recorded_expansion();
            assert_eq!(
                plan.search * workers + plan.small_searches + plan.light_searches + plan.bulk_searches + recorded,
                searches,
                "{plan}"
            );
            assert!(plan.small_searches < plan.search * workers, "{plan}");
        }
    }
    assert!(config(&["--memory=512MB", "--workers=2"]).is_ok() && config(&["--memory=2GB", "--workers=2"]).is_ok());
}

#[test]
fn bulk_work_has_a_share_of_the_workers_and_memory_of_its_own() {
    let plan = |share: &str, workers: usize| {
        let flags = ["--memory=64GiB", &format!("--workers={workers}"), &format!("--bulk-share={share}")];
        let Config { threads, memory, .. } = config(&flags).unwrap();
        assert_eq!(memory.bulk_searches, threads.bulk as u64 * memory.bulk_search);
        (threads.bulk, memory.bulk_search >> 20)
    };
    assert_eq!([plan("1", 4), plan("0.5", 4), plan("0.3", 4), plan("0.01", 4)], [(4, 32), (2, 32), (2, 32), (1, 32)]);
    assert_eq!([plan("0.07", 100), plan("0", 4)], [(7, 32), (0, 0)]);
    let little = config(&["--memory=512MiB", "--workers=2"]).unwrap().memory;
    assert!(little.bulk_searches >= 4 << 20 && little.bulk_searches < little.search, "{little:?}");
    for ratio in ["", "-0.1", "1.01", "NaN", "all"] {
        assert_eq!(errors(&[&format!("--bulk-share={ratio}")]).len(), 1, "{ratio}");
    }
}

#[test]
fn the_lists_of_a_response_are_bounded() {
    assert_eq!(config(&["--max-expansions=5000"]).unwrap().service.max_expansions, 5_000);
    let errors = errors(&["--max-expansions=5001"]);
    assert!(errors.len() == 1 && errors[0].contains("5000"), "{errors:?}");
}

#[test]
fn traces_are_off_by_default_and_need_the_feature() {
    assert_eq!(config(&[]).unwrap().traces, None);
    assert_eq!(config(&["--otlp-endpoint=", "--otlp-sample=0.5"]).unwrap().traces, None);
    let asked = config(&["--otlp-endpoint=http://collector:4318", "--otlp-sample=0.5"]);
    if cfg!(feature = "otel") {
        let url = "http://collector:4318/v1/traces".to_owned();
        assert_eq!(asked.unwrap().traces, Some(TraceConfig { url, sample: 0.5 }));
    } else {
        let errors = asked.unwrap_err();
        assert!(errors.len() == 1 && errors[0].to_string().contains("--features otel"), "{errors:?}");
    }
    for ratio in ["", "-0.1", "1.01", "NaN", "half"] {
        assert_eq!(errors(&[&format!("--otlp-sample={ratio}")]).len(), 1, "{ratio}");
    }
}

#[test]
fn a_base_path_has_whole_names_and_no_slash_at_its_end() {
    for (text, path) in [("", ""), ("/", ""), ("/taquin", "/taquin"), ("/tools/taquin/", "/tools/taquin")] {
        assert_eq!(config(&["--base-path", text]).unwrap().site.base_path, path, "{text:?}");
    }
    for bad in ["taquin", "//", "/a//b", "/a b", "/%2e", "/..", "/a/./b", "http://example.org/taquin", " "] {
        let errors = errors(&["--base-path", bad]);
        assert!(errors.len() == 1 && errors[0].contains("is not a path such as /taquin"), "{bad:?}: {errors:?}");
    }
}

#[test]
fn jobs_are_off_by_default_and_need_tokens_where_others_can_connect() {
    assert_eq!(config(&[]).unwrap().jobs, None);
    assert_eq!(config(&["--jobs="]).unwrap().jobs, None);
    let jobs = config(&["--jobs=/data", "--jobs-keep=30d", "--max-jobs=2"]).unwrap().jobs.unwrap();
    assert_eq!(jobs.place, JobsPlace::Own("/data".into()));
    let keep = Duration::from_secs(30 * 86_400);
    let settings = JobSettings { keep, max_unfinished: 2, max_boards: 1_000_000_000, max_body: 256 << 20 };
    assert_eq!(jobs.settings, settings);
    let open = errors(&["--jobs=/data", "--listen=0.0.0.0:80"]);
    assert!(open.len() == 1 && open[0].contains("--token-file"), "{open:?}");
    assert!(config(&["--jobs=/data", "--listen=[::1]:80"]).is_ok());
    let idle = errors(&["--jobs=/data", "--bulk-share=0"]);
    assert!(idle.len() == 1 && idle[0].contains("--bulk-share"), "{idle:?}");
    let wrong = errors(&["--jobs-keep=0s", "--max-jobs=0", "--max-job-boards=1000000000001", "--max-job-body=1"]);
    assert_eq!(wrong.len(), 4, "{wrong:?}");
    assert!(config(&["--jobs=/data", "--listen=0.0.0.0:80", "healthcheck"]).is_ok_and(|config| config.jobs.is_none()));
}

#[test]
fn only_misspelled_variables_are_found() {
    let names = [
        "TAQUIN_WORKRES",
        "TAQUIN_WORKERS",
        "TAQUIN_OTLP_ENDPOINT",
        "TAQUIN_TOKEN_FILE",
        "TAQUIN_TOKEN",
        "TAQUIN_SERVICE_HOST",
        "TAQUIN_SERVICE_PORT",
        "TAQUIN_SERVICE_PORT_HTTP",
        "TAQUIN_ADMIN_SERVICE_HOST",
        "TAQUIN_PORT",
        "TAQUIN_PORT_8080_TCP",
        "TAQUIN_PORT_8080_TCP_ADDR",
        "TAQUINS",
        "PATH",
    ];
    assert_eq!(unknown_variables(names.map(str::to_owned)), ["TAQUIN_TOKEN", "TAQUIN_WORKRES"]);
}

#[test]
fn completions_know_every_flag_in_every_shell() {
    for shell in Shell::value_variants() {
        let script = String::from_utf8(completions(*shell)).unwrap();
        for flag in Flags::command().get_arguments().filter_map(clap::Arg::get_long) {
            assert!(script.contains(flag), "{shell}: {flag}");
        }
    }
}

#[test]
fn the_man_page_has_every_flag_and_variable() {
    // roff escapes hyphens.
    let page = String::from_utf8(man_page().unwrap()).unwrap().replace('\\', "");
    for arg in Flags::command().get_arguments() {
        assert!(page.contains(&format!("--{}", arg.get_long().unwrap())), "{}", arg.get_id());
        assert!(arg.get_env().is_none_or(|variable| page.contains(variable.to_str().unwrap())), "{}", arg.get_id());
    }
}
