//! Messages on their way to the windows: replies in order, and of views only the last one.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Replies that may wait for a window that does not read; beyond it the window is dropped.
const MAX_WAITING: usize = 4096;

/// A message to a window.
#[derive(Clone, Debug)]
pub(crate) enum Outgoing {
    Text(Arc<str>),
    Binary(Arc<[u8]>),
}

#[derive(Debug, Default)]
struct Waiting {
    queue: VecDeque<Outgoing>,
    view: Option<Arc<[u8]>>,
    closed: bool,
}

/// The messages of one window.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    inner: Mutex<Waiting>,
    arrived: Condvar,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A thread that panicked while it held the lock has left whole messages.
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Puts a reply in the queue.
    pub fn send(&self, message: Outgoing) {
        let mut inner = self.lock();
        if inner.queue.len() >= MAX_WAITING {
            inner.closed = true;
        }
        inner.queue.push_back(message);
        self.arrived.notify_one();
    }

    /// Replaces the view that has not been sent yet.
    pub fn show(&self, view: Arc<[u8]>) {
        self.lock().view = Some(view);
        self.arrived.notify_one();
    }

    /// Ends the window.
    pub fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_one();
    }

    /// Whether the window has ended.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Waits for the next messages; `None` at the end.
    pub fn take(&self) -> Option<Vec<Outgoing>> {
        let mut inner = self.lock();
        loop {
            if inner.closed {
                return None;
            }
            let mut messages: Vec<Outgoing> = inner.queue.drain(..).collect();
            messages.extend(inner.view.take().map(Outgoing::Binary));
            if !messages.is_empty() {
                return Some(messages);
            }
            let waited = self.arrived.wait_timeout(inner, Duration::from_secs(1));
            inner = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }
}
