//! `--listen`: probes, metrics and files for endpoints over HTTP while a command works.

use crate::{failure::Failure, output};
use bindery_app::{Readiness, env_vars, served};
use tokio::net::TcpListener;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ListenArgs {
    /// Answer here whether it lives (/livez), is ready (/readyz), and its metrics (/metrics)
    #[arg(long, value_name = "HOST:PORT", env = env_vars::LISTEN, hide_env = true)]
    listen: Option<String>,

    /// Where endpoints (`http:` processors) reach that address: they fetch files and pages from there, under tokens that
    /// end with the request, instead of getting them inside of it
    #[arg(long, value_name = "URL", env = env_vars::FILES_URL, hide_env = true)]
    files_url: Option<String>,
}

impl ListenArgs {
    /// Answers from now on if it is asked for, also while the store is waited for, and until the process ends.
    pub(crate) async fn serve(&self) -> anyhow::Result<Readiness> {
        let readiness = Readiness::default();
        let Some(address) = &self.listen else {
            if self.files_url.is_some() {
                let message = format!("--files-url or {}: nothing is listened on", env_vars::FILES_URL);
                return Err(Failure::usage(message).hint("add --listen HOST:PORT").into());
            }
            return Ok(readiness);
        };
        let wrong = |error: std::io::Error| {
            Failure::usage(format!("--listen or {}: {address:?} cannot be listened on: {error}", env_vars::LISTEN))
                .hint("an address is a host and a port, such as 127.0.0.1:9464 or 0.0.0.0:9464")
        };
        let listener = TcpListener::bind(address).await.map_err(wrong)?;
        output::note(format!("answers on http://{}", listener.local_addr().map_err(wrong)?));
        if let Some(url) = &self.files_url {
            if !url.starts_with("http://") && !url.starts_with("https://") {
                let message = format!("--files-url or {}: expected an address, found {url:?}", env_vars::FILES_URL);
                return Err(Failure::usage(message).hint("for example http://worker-1.example:9464").into());
            }
            served::announce(url);
        }
        let asked = readiness.clone();
        tokio::spawn(async move {
            if let Err(error) = bindery_server::serve(listener, asked, std::future::pending()).await {
                tracing::error!(error = %error, "nobody is answered any more");
            }
        });
        Ok(readiness)
    }
}
