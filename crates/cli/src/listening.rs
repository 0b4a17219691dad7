//! `--listen`: probes and metrics over HTTP while a command works.

use crate::{failure::Failure, output};
use bindery_app::{Readiness, env_vars};
use tokio::net::TcpListener;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ListenArgs {
    /// Answer here whether it lives (/livez), is ready (/readyz), and its metrics (/metrics)
    #[arg(long, value_name = "HOST:PORT", env = env_vars::LISTEN, hide_env = true)]
    listen: Option<String>,
}

impl ListenArgs {
    /// Answers from now on if it is asked for, also while the store is waited for, and until the process ends.
    pub(crate) async fn serve(&self) -> anyhow::Result<Readiness> {
        let readiness = Readiness::default();
        let Some(address) = &self.listen else { return Ok(readiness) };
        let wrong = |error: std::io::Error| {
            Failure::usage(format!("--listen or {}: {address:?} cannot be listened on: {error}", env_vars::LISTEN))
                .hint("an address is a host and a port, such as 127.0.0.1:9464 or 0.0.0.0:9464")
        };
        let listener = TcpListener::bind(address).await.map_err(wrong)?;
        output::note(format!("answers on http://{}", listener.local_addr().map_err(wrong)?));
        let asked = readiness.clone();
        tokio::spawn(async move {
            if let Err(error) = bindery_server::serve(listener, asked, std::future::pending()).await {
                tracing::error!(error = %error, "nobody is answered any more");
            }
        });
        Ok(readiness)
    }
}
