//! A network cable that can be pulled: a port that forwards to another until it is cut.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// Forwards connections. While it is cut, nothing passes in either direction, and nobody is told: as when a switch
/// loses power. Dropped, it accepts no more.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    cut: Arc<AtomicBool>,
    closed: Arc<AtomicBool>,
}

impl Proxy {
    /// To a port of the loopback address.
    pub fn to(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let proxy = Self { port, cut: Arc::default(), closed: Arc::default() };
        let (cut, closed) = (Arc::clone(&proxy.cut), Arc::clone(&proxy.closed));
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                if closed.load(Ordering::SeqCst) {
                    return;
                }
                // Who calls while it is cut waits for an answer that does not come.
                let far = TcpStream::connect(("127.0.0.1", target));
                let Ok(far) = far else { continue };
                for (from, to) in [(near.try_clone(), far.try_clone()), (Ok(far), Ok(near))] {
                    let (Ok(from), Ok(to)) = (from, to) else { continue };
                    let cut = Arc::clone(&cut);
                    thread::spawn(move || pass(from, to, &cut));
                }
            }
        });
        proxy
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Nothing passes any more.
    pub fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
    }

    /// What was under way arrives late.
    pub fn mend(&self) {
        self.cut.store(false, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        self.mend();
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, cut: &AtomicBool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        while cut.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    while cut.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(5));
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
