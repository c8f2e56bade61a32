//! More connections than the limit allows, and the admin listener, which stays reachable.

use std::time::Duration;

use super::client::{Client, HARD, Service, get, until};

const A_WHILE: Duration = Duration::from_millis(300);

#[test]
fn a_connection_above_the_limit_waits_for_another_to_close() {
    let service = Service::start(&["--max-connections=2"]);
    let (mut first, mut second) = (service.connect(), service.connect());
    first.get("/livez").expect(200);
    second.get("/livez").expect(200);
    let mut third = service.connect();
    third.write("GET /solve?board=867254301 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(third.is_quiet(A_WHILE), "the connection limit is reached");
    second.get("/livez").expect(200);
    drop(first);
    third.answer().expect(200);
    third.get("/livez").expect(200);
}

#[test]
fn a_timed_out_connection_frees_its_place() {
    let service = Service::start(&["--max-connections=1", "--header-timeout=300ms"]);
    let silent = service.connect();
    service.get("/livez").expect(200);
    drop(silent);
}

#[test]
fn the_admin_listener_responds_when_the_main_listener_is_full() {
    let service = Service::start(&["--max-connections=1", "--admin-listen=127.0.0.1:0"]);
    let admin = service.admin_addr.expect("an address");
    let mut only = service.connect();
    only.get("/livez").expect(200);
    for target in ["/livez", "/readyz", "/healthz", "/info"] {
        let answer = get(admin, target).expect(200);
        assert!(answer.head.contains("x-request-id: "), "{answer:?}");
        only.get(target).expect(200);
    }
    for target in ["/", "/solve?board=867254301", "/solvable", "/random", "/openapi.json", "/problems/not-found"] {
        let answer = get(admin, target).expect(404);
        assert!(answer.body.contains("/problems/not-found"), "{answer:?}");
        let paths = "This listener serves /info, /livez, /readyz, /healthz, /metrics.";
        assert!(answer.body.contains(paths), "{answer:?}");
    }
}

#[test]
fn the_admin_listener_has_a_cap_of_its_own() {
    let service = Service::start(&["--admin-listen=127.0.0.1:0"]);
    let admin = service.admin_addr.expect("an address");
    let mut clients: Vec<_> = std::iter::repeat_with(|| Client::connect(admin)).take(64).collect();
    for client in &mut clients {
        client.get("/livez").expect(200);
    }
    let mut one_more = Client::connect(admin);
    one_more.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(one_more.is_quiet(A_WHILE));
    service.get("/livez").expect(200);
    clients.pop();
    one_more.answer().expect(200);
}

#[test]
fn the_admin_listener_is_the_last_to_close() {
    let mut service = Service::start(&["--admin-listen=127.0.0.1:0", "--shutdown-grace=1h"]);
    let admin = service.admin_addr.expect("an address");
    let mut kept = Client::connect(admin);
    kept.get("/readyz").expect(200);
    let mut busy = service.connect();
    busy.write(format!("GET {HARD}&limits.time_ms=60000 HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert!(busy.is_quiet(A_WHILE));
    service.start_shutdown();
    until("the main listener is closed", || std::net::TcpStream::connect(service.addr).is_err());
    get(admin, "/livez").expect(200);
    let answer = get(admin, "/readyz").expect(503);
    assert!(answer.body.contains("/problems/shutting-down"), "{answer:?}");
    kept.get("/readyz").expect(503);
    drop(busy);
    kept.end();
    until("the service has stopped", || service.has_stopped());
    assert!(std::net::TcpStream::connect(admin).is_err());
}
