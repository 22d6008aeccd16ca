//! The server on loopback: one thread per connection, one for the engine.

use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use std::{io, thread};

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

use crate::engine::{Engine, Event};
use crate::http::{Request, Verdict, answer};
use crate::hub::{Mailbox, Outgoing};
use crate::player::Player;
use crate::recording::{Recorder, Recording};
use crate::session::{SceneSource, Session};

/// Largest message from a window, in bytes.
const LARGEST_MESSAGE: usize = 4 << 20;
/// Most messages from a window in a second.
const MOST_MESSAGES: u32 = 1000;
/// Most connections at a time.
const MOST_CONNECTIONS: usize = 32;

/// What is shown.
#[derive(Clone, Debug)]
pub enum Content {
    /// A scene that runs.
    Scene {
        /// The scene.
        source: SceneSource,
        /// Seconds that it has run when the page opens.
        warm_up: f64,
    },
    /// A run folder.
    Run(Vec<PathBuf>),
    /// A recorded session.
    Replay(Recording),
}

impl Content {
    /// The scene that is simulated, if one is.
    pub fn source(&self) -> Option<&SceneSource> {
        match self {
            Self::Scene { source, .. } => Some(source),
            Self::Replay(recording) => Some(&recording.source),
            Self::Run(_) => None,
        }
    }
}

/// Options of the server.
#[derive(Clone, Debug, Default)]
pub struct StudioOptions {
    /// Port; 0 for a free one.
    pub port: u16,
    /// File to record inputs into.
    pub record: Option<PathBuf>,
    /// Folder to save the run into, from the start.
    pub save_run: Option<PathBuf>,
}

/// A studio that is ready to serve.
pub struct Studio {
    listener: TcpListener,
    token: String,
    show: Show,
}

enum Show {
    Engine(Box<Engine>),
    Player(Box<Player>),
}

impl Studio {
    /// Opens what is shown, and a port of the loopback address.
    pub fn open(content: &Content, options: &StudioOptions) -> Result<Self, String> {
        let engine = |session: Session, recorder, recording: Option<&Recording>| {
            let mut engine = Engine::new(session, recorder, recording);
            options.save_run.as_deref().map_or(Ok(()), |folder| engine.save_run(folder))?;
            Ok::<_, String>(Show::Engine(Box::new(engine)))
        };
        let show = match content {
            Content::Scene { source, warm_up } => {
                let session = Session::open(source.clone(), *warm_up)?;
                let recorder = recorder(options, source, *warm_up)?;
                engine(session, recorder, None)?
            }
            Content::Replay(recording) => {
                let recorder = recorder(options, &recording.source, recording.warm_up)?;
                engine(recording.open()?, recorder, Some(recording))?
            }
            Content::Run(_) if options.save_run.is_some() => return Err("a run is saved already".into()),
            Content::Run(folders) => Show::Player(Box::new(Player::open(folders)?)),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
            .map_err(|error| format!("cannot use port {} of 127.0.0.1: {error}", options.port))?;
        Ok(Self { listener, token: new_token()?, show })
    }

    /// The address of the page, with its token.
    pub fn address(&self) -> Result<String, String> {
        let port = self.listener.local_addr().map_err(|error| error.to_string())?.port();
        Ok(format!("http://127.0.0.1:{port}/?token={}", self.token))
    }

    /// Serves until `stop` is set.
    pub fn serve(self, stop: &'static AtomicBool) -> Result<(), String> {
        let (events, heard) = channel();
        let Self { listener, token, show } = self;
        listener.set_nonblocking(true).map_err(|error| error.to_string())?;
        thread::spawn(move || accept(&listener, &token.into(), &events, stop));
        match show {
            Show::Engine(engine) => engine.run(&heard, stop),
            Show::Player(player) => player.run(&heard, stop),
        }
    }
}

fn recorder(options: &StudioOptions, source: &SceneSource, warm_up: f64) -> Result<Option<Recorder>, String> {
    options.record.as_deref().map(|path| Recorder::create(path, source, warm_up)).transpose()
}

/// 128 random bits as text.
fn new_token() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Accepts connections until `stop` is set.
fn accept(listener: &TcpListener, token: &Arc<str>, events: &Sender<Event>, stop: &AtomicBool) {
    let connections = Arc::new(AtomicUsize::new(0));
    while !stop.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                if connections.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
                    connections.fetch_sub(1, Ordering::SeqCst);
                    continue;
                }
                let (token, events, connections) = (Arc::clone(token), events.clone(), Arc::clone(&connections));
                thread::spawn(move || {
                    // A connection that fails is closed; the page opens another one.
                    let _ = connect(stream, &token, &events);
                    connections.fetch_sub(1, Ordering::SeqCst);
                });
            }
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Answers one connection.
fn connect(mut stream: TcpStream, token: &str, events: &Sender<Event>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(Duration::from_secs(10)))?;
    let Some(request) = Request::peek(&stream)? else {
        return answer(&mut stream, &Verdict::Refused(400, "this is no request that the studio understands"));
    };
    match request.verdict(token) {
        Verdict::Socket => talk(stream, events),
        verdict => {
            answer(&mut stream, &verdict)?;
            stream.shutdown(Shutdown::Write)
        }
    }
}

/// Runs a socket: one thread reads, another one writes.
fn talk(stream: TcpStream, events: &Sender<Event>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(None)?;
    let writer = stream.try_clone()?;
    let config =
        WebSocketConfig::default().max_message_size(Some(LARGEST_MESSAGE)).max_frame_size(Some(LARGEST_MESSAGE));
    let Ok(mut socket) = tungstenite::accept_with_config(stream, Some(config)) else { return Ok(()) };
    let window = Arc::new(Mailbox::default());
    let outbox = Arc::clone(&window);
    let sending = thread::spawn(move || write_all(writer, &outbox));
    if events.send(Event::Joined(Arc::clone(&window))).is_ok() {
        read_all(&mut socket, &window, events);
    }
    window.close();
    let _ = sending.join();
    socket.get_ref().shutdown(Shutdown::Both)
}

/// Sends what is in the mailbox until it closes.
fn write_all(stream: TcpStream, window: &Mailbox) {
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, None);
    while let Some(messages) = window.take() {
        for message in messages {
            let message = match message {
                Outgoing::Text(text) => Message::text(&*text),
                Outgoing::Binary(bytes) => Message::binary(bytes.to_vec()),
            };
            if socket.send(message).is_err() {
                window.close();
                return;
            }
        }
    }
    let _ = socket.close(None);
    let _ = socket.flush();
    let _ = socket.get_ref().shutdown(Shutdown::Both);
}

/// Hands on what a window says, unless it says too much.
fn read_all(socket: &mut WebSocket<TcpStream>, window: &Arc<Mailbox>, events: &Sender<Event>) {
    let (mut second, mut count) = (Instant::now(), 0);
    while !window.is_closed() {
        match socket.read() {
            Ok(Message::Text(text)) => {
                if second.elapsed() > Duration::from_secs(1) {
                    (second, count) = (Instant::now(), 0);
                }
                count += 1;
                if count > MOST_MESSAGES || events.send(Event::Said(Arc::clone(window), text.to_string())).is_err() {
                    return;
                }
            }
            Ok(Message::Close(_)) | Err(_) => return,
            Ok(_) => {}
        }
    }
}
