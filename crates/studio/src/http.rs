//! The few parts of HTTP that the page needs, and who may ask.
//!
//! A request is answered if it names this machine by a loopback name (a web page elsewhere cannot,
//! even after rebinding its name to this address), and the page and the socket only with the token of
//! the address that the command printed. Everything else is refused.

use std::io::{self, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::page;

/// Longest head of a request, in bytes.
const LONGEST_HEAD: usize = 8 << 10;
/// Time in which a head must arrive.
const PATIENCE: Duration = Duration::from_secs(5);

/// The head of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Request {
    pub method: String,
    pub path: String,
    pub query: String,
    pub host: String,
    pub origin: Option<String>,
    pub upgrade: bool,
}

/// What happens to a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// It becomes a socket.
    Socket,
    /// It gets a file.
    File(&'static str),
    /// It is refused: status and reason.
    Refused(u16, &'static str),
}

impl Request {
    /// Looks at the head without taking it from the stream; `None` if it is no request.
    pub fn peek(stream: &TcpStream) -> io::Result<Option<Self>> {
        let start = Instant::now();
        let mut buffer = vec![0; LONGEST_HEAD];
        stream.set_read_timeout(Some(PATIENCE))?;
        loop {
            let count = stream.peek(&mut buffer)?;
            if let Some(end) = buffer[..count].windows(4).position(|four| four == b"\r\n\r\n") {
                return Ok(std::str::from_utf8(&buffer[..end]).ok().and_then(Self::parse));
            }
            if count == 0 || count == LONGEST_HEAD || start.elapsed() > PATIENCE {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn parse(head: &str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target) = (first.next()?.to_owned(), first.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Self { method, path: path.to_owned(), query: query.to_owned(), ..Self::default() };
        let mut hosts = 0;
        for line in lines {
            let (name, value) = line.split_once(':')?;
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "host" => {
                    request.host = value.to_owned();
                    hosts += 1;
                }
                "origin" => request.origin = Some(value.to_owned()),
                "upgrade" => request.upgrade = value.eq_ignore_ascii_case("websocket"),
                _ => {}
            }
        }
        (hosts == 1).then_some(request)
    }

    /// Whether the request may be answered, and how.
    pub fn verdict(&self, token: &str) -> Verdict {
        if self.method != "GET" {
            return Verdict::Refused(405, "only GET is answered");
        }
        if !is_loopback(&self.host) {
            return Verdict::Refused(403, "this server answers to loopback names only");
        }
        if self.origin.as_ref().is_some_and(|origin| *origin != format!("http://{}", self.host)) {
            return Verdict::Refused(403, "another page may not use this server");
        }
        let has_token = self
            .query
            .split('&')
            .any(|pair| pair.strip_prefix("token=").is_some_and(|given| same(given.as_bytes(), token.as_bytes())));
        if self.path == "/socket" {
            return match (self.upgrade, self.origin.is_some(), has_token) {
                (true, true, true) => Verdict::Socket,
                (_, _, false) => Verdict::Refused(403, "the token is missing or wrong"),
                (_, false, _) => Verdict::Refused(403, "a socket needs an origin"),
                _ => Verdict::Refused(400, "this address is a WebSocket"),
            };
        }
        match page::file(&self.path) {
            Some(file) if file.path == "/index.html" && !has_token => {
                Verdict::Refused(403, "the token is missing or wrong: open the address that `sessile studio` printed")
            }
            Some(file) => Verdict::File(file.path),
            None => Verdict::Refused(404, "there is no such page"),
        }
    }
}

/// Whether a host, with or without a port, names this machine to itself.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
}

/// Equality in a time that does not depend on where texts differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Takes the head of a request from the stream and answers it.
pub(crate) fn answer(stream: &mut TcpStream, verdict: &Verdict) -> io::Result<()> {
    discard_head(stream)?;
    let (status, media, body): (&str, &str, &[u8]) = match verdict {
        Verdict::File(path) => match page::file(path) {
            Some(file) => ("200 OK", file.media, file.bytes),
            None => ("404 Not Found", "text/plain", b"not found"),
        },
        Verdict::Refused(status, reason) => {
            let status = match status {
                400 => "400 Bad Request",
                403 => "403 Forbidden",
                405 => "405 Method Not Allowed",
                _ => "404 Not Found",
            };
            (status, "text/plain; charset=utf-8", reason.as_bytes())
        }
        Verdict::Socket => return Ok(()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {}\r\nConnection: close\r\n{HEADERS}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}

/// What every answer says: nothing but our own files may be loaded, run or connected to.
const HEADERS: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'\r\n\
    X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n\
    Cache-Control: no-store\r\n";

fn discard_head(stream: &mut TcpStream) -> io::Result<()> {
    use std::io::Read as _;
    let mut last = [0; 4];
    let mut byte = [0];
    for _ in 0..LONGEST_HEAD {
        if stream.read(&mut byte)? == 0 {
            break;
        }
        last = [last[1], last[2], last[3], byte[0]];
        if last == *b"\r\n\r\n" {
            break;
        }
    }
    Ok(())
}
