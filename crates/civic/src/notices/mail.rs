//! Mails leave as files in a folder, or through a program such as sendmail.

use bindery_files::{WholeFile, private};
use std::{
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// How long a program may take for a mail.
const LONGEST: Duration = Duration::from_secs(60);

/// How mails leave.
#[derive(Debug, Clone)]
pub enum Mail {
    /// Each becomes a file `ID.eml` that appears whole. Whoever delivers mail takes it from there.
    Folder(PathBuf),
    /// Each is given to this program, which finds the recipient in it: `/usr/sbin/sendmail -t`.
    Program(Vec<String>),
}

impl Mail {
    /// Blocks the thread. An error is a sentence.
    pub(super) fn send(&self, id: &str, mail: &[u8]) -> Result<(), String> {
        match self {
            Self::Folder(folder) => {
                let file = folder.join(format!("{id}.eml"));
                store(folder, &file, mail).map_err(|error| format!("{} cannot be written: {error}", file.display()))
            }
            Self::Program(words) => {
                let (program, arguments) =
                    words.split_first().ok_or_else(|| "no program is named that sends mails".to_owned())?;
                run(program, arguments, mail).map_err(|error| format!("{program}: {error}"))
            }
        }
    }
}

/// A file that is there is the same mail, written before somebody died.
fn store(folder: &Path, file: &Path, mail: &[u8]) -> io::Result<()> {
    private::create_folder(folder)?;
    let mut out = WholeFile::begin(file)?;
    out.write_all(mail)?;
    out.finish_durably().map(drop)
}

fn run(program: &str, arguments: &[String], mail: &[u8]) -> Result<(), String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("it cannot be started: {error}"))?;
    let input = child.stdin.take();
    let (mail, errors) = (mail.to_vec(), child.stderr.take());
    let writing = thread::spawn(move || input.map_or(Ok(()), |mut input| input.write_all(&mail)));
    let reading = thread::spawn(move || {
        let mut said = String::new();
        // What a program says that is no text is not told.
        let _ = errors.map(|errors| errors.take(4_096).read_to_string(&mut said));
        said
    });
    let status = wait(&mut child)?;
    let written = writing.join().unwrap_or(Ok(()));
    let said = reading.join().unwrap_or_default();
    if !status.success() {
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        return Err(format!("it ended with {status}{}{said}", if said.is_empty() { "" } else { ": " }));
    }
    written.map_err(|error| format!("it did not take the mail: {error}"))
}

fn wait(child: &mut Child) -> Result<std::process::ExitStatus, String> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        if begun.elapsed() > LONGEST {
            // It may have ended in this moment.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("it took longer than {} s", LONGEST.as_secs()));
        }
        thread::sleep(Duration::from_millis(20));
    }
}
