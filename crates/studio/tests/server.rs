//! The server, asked by pages and by others.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sessile_studio::{Content, SceneSource, Studio, StudioOptions};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

const TABLE: &str = "model = \"pane\"\n[time]\nduration = \"1 s\"\nframe = \"0.1 s\"\n[[solids]]\nname = \"table\"\n\
    size = \"40 40 mm\"\n[[drops]]\nshape = \"cap\"\non = \"table\"\nvolume = \"5 uL\"\n";

struct Server {
    port: u16,
    token: String,
    stop: &'static AtomicBool,
}

impl Server {
    fn start() -> Self {
        let source =
            SceneSource { name: "table".into(), text: TABLE.into(), folder: std::env::temp_dir(), trusted: false };
        let content = Content::Scene { source, warm_up: 0.0 };
        let studio = Studio::open(&content, &StudioOptions::default()).expect("the studio opens");
        let address = studio.address().expect("it has an address");
        let (place, token) = address.split_once("/?token=").expect("the address has a token");
        let port = place.rsplit(':').next().and_then(|port| port.parse().ok()).expect("the address has a port");
        let (stop, token) = (Box::leak(Box::new(AtomicBool::new(false))), token.to_owned());
        let stop: &'static AtomicBool = stop;
        thread::spawn(move || studio.serve(stop));
        Self { port, token, stop }
    }

    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(&self, target: &str, host: &str, more: &str) -> String {
        self.ask(&format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n"))
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn socket(&self) -> WebSocket<TcpStream> {
        let address = format!("ws://127.0.0.1:{}/socket?token={}", self.port, self.token);
        let mut request = address.into_client_request().expect("a request");
        let origin = format!("http://{}", self.host()).parse().expect("a header");
        request.headers_mut().insert("Origin", origin);
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        tungstenite::client(request, stream).expect("the socket opens").0
    }

    /// Whether a new window gets a view.
    fn lives(&self) -> bool {
        let mut socket = self.socket();
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            match socket.read() {
                Ok(Message::Binary(bytes)) if bytes[..4] == 1u32.to_le_bytes() => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        false
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

#[test]
fn the_page_needs_its_token_and_carries_a_strict_policy() {
    let server = Server::start();
    let page = server.get(&format!("/?token={}", server.token), &server.host(), "");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let policy = page.lines().find(|line| line.starts_with("Content-Security-Policy")).expect("a policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe") && !policy.contains('*'), "{policy}");
    assert!(page.contains("X-Content-Type-Options: nosniff"));
    for target in ["/", "/?token=", "/?token=0123456789abcdef0123456789abcdef", "/socket"] {
        assert!(server.get(target, &server.host(), "").starts_with("HTTP/1.1 403"), "{target}");
    }
}

#[test]
fn other_hosts_and_other_pages_are_refused() {
    let server = Server::start();
    let target = format!("/?token={}", server.token);
    for host in ["evil.example", "127.0.0.1.evil.example:80", "evil.example:127", "localhost.evil.example"] {
        assert!(server.get(&target, host, "").starts_with("HTTP/1.1 403"), "{host}");
    }
    assert!(server.get(&target, "localhost:4000", "").starts_with("HTTP/1.1 200"), "through a tunnel");
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let socket = format!("/socket?token={}", server.token);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        let answer = server.get(&socket, &server.host(), &format!("{upgrade}Origin: {origin}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 403"), "{origin}: {answer}");
    }
    assert!(server.get(&socket, &server.host(), upgrade).starts_with("HTTP/1.1 403"), "without an origin");
    assert!(server.lives());
}

#[test]
fn only_files_of_the_page_are_served() {
    let server = Server::start();
    let host = server.host();
    assert!(server.get("/main.js", &host, "").starts_with("HTTP/1.1 200"));
    for target in ["/../Cargo.toml", "/..%2f..%2fetc/passwd", "//etc/passwd", "/main.js/..", "/index.html/../../x"] {
        assert!(server.get(target, &host, "").starts_with("HTTP/1.1 404"), "{target}");
    }
    assert!(server.ask(&format!("POST / HTTP/1.1\r\nHost: {host}\r\n\r\n")).starts_with("HTTP/1.1 405"));
    assert!(server.ask("nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
    assert!(server.ask(&format!("GET / HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n")).starts_with("HTTP/1.1 400"));
    let long = "x".repeat(20_000);
    assert!(!server.get(&format!("/{long}"), &host, "").starts_with("HTTP/1.1 200"));
    assert!(server.lives());
}

#[test]
fn a_message_of_a_gigabyte_ends_its_window_only() {
    let server = Server::start();
    let mut socket = server.socket();
    // The head of a masked text frame of 1 GB, and some of it.
    let mut frame = vec![0x81, 0xff];
    frame.extend((1u64 << 30).to_be_bytes());
    frame.extend([0; 4 + 4096]);
    let stream = socket.get_mut();
    let _ = stream.write_all(&frame);
    let start = Instant::now();
    while socket.read().is_ok() {
        assert!(start.elapsed() < Duration::from_secs(10), "the window is closed");
    }
    assert!(server.lives());
}

#[test]
fn ten_thousand_messages_in_a_second_end_their_window_only() {
    let server = Server::start();
    let mut socket = server.socket();
    let refused = (0..10_000).any(|_| socket.send(Message::text(r#"{"ask": "play", "playing": true}"#)).is_err());
    let start = Instant::now();
    let mut closed = refused;
    while !closed && start.elapsed() < Duration::from_secs(10) {
        closed = socket.read().is_err();
    }
    assert!(closed, "the window is closed");
    assert!(server.lives());
}

#[test]
fn nonsense_gets_an_error_and_changes_nothing() {
    let server = Server::start();
    let mut socket = server.socket();
    let wrong = [
        "{",
        r#"{"ask": "fly"}"#,
        r#"{"ask": "input", "input": {"do": "add", "at": [0, 0, 0], "volume": -1}}"#,
        r#"{"ask": "input", "input": {"do": "material", "solid": 7}}"#,
        r#"{"ask": "input", "input": {"do": "scene", "name": "x", "text": "model = 1"}}"#,
        r#"{"ask": "input", "input": {"do": "model", "name": "marble"}}"#,
    ];
    for text in wrong {
        socket.send(Message::text(text)).expect("it is sent");
        let mut found = false;
        for _ in 0..2000 {
            if let Ok(Message::Text(answer)) = socket.read()
                && answer.contains("\"kind\":\"error\"")
            {
                found = true;
                break;
            }
        }
        assert!(found, "an error for {text}");
    }
    assert!(server.lives());
}
