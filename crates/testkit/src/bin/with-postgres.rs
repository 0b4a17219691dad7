//! `with-postgres COMMAND…`: runs a command with a private PostgreSQL server, whose URL is in its environment.

#![expect(clippy::print_stderr, reason = "a program for the terminal")]

use bindery_testkit::{POSTGRES_FOR_TESTS, PostgresServer};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let Some(program) = args.next() else {
        eprintln!("usage: with-postgres COMMAND…");
        return ExitCode::from(2);
    };
    let Some(server) = PostgresServer::start() else { return ExitCode::SUCCESS };
    match Command::new(&program).args(args).env(POSTGRES_FOR_TESTS, server.url()).status() {
        Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Err(error) => {
            eprintln!("{}: {error}", program.display());
            ExitCode::from(127)
        }
    }
}
