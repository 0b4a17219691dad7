//! The broker that may carry a worker's jobs.

use crate::{
    app::App,
    error::{AppResult, BrokerError},
};
use bindery_engine::{WorkerOptions, worker::Source};
use std::sync::Arc;

/// A connection to RabbitMQ, or none.
#[derive(Debug, Default)]
pub struct Broker {
    #[cfg(feature = "amqp")]
    transport: Option<bindery_amqp::Transport>,
}

#[cfg(feature = "amqp")]
impl Broker {
    /// Connects, if there is an address. Then the worker takes only the engine's own small jobs from the store.
    pub async fn connect(app: &App, url: Option<String>, options: &mut WorkerOptions) -> AppResult<Self> {
        use bindery_amqp::{AmqpError, AmqpOptions, Transport};
        let Some(url) = url else { return Ok(Self::default()) };
        let refused = |error: AmqpError| match error {
            AmqpError::Url(_) => BrokerError::Url(error.to_string()),
            other => BrokerError::Refused(other.to_string()),
        };
        let wanted = AmqpOptions {
            queues: options.queues.clone(),
            lease: options.lease,
            relay: format!("{}-relay", options.name).into(),
            requests: Some(Arc::new(crate::requests::Intake::new(app.engine.clone()))),
            ..AmqpOptions::from_url(&url).map_err(refused)?
        };
        let transport = Transport::connect(app.engine.clone(), wanted).await.map_err(refused)?;
        options.queues = Some(vec![bindery_core::job::ENGINE_QUEUE.into()]);
        Ok(Self { transport: Some(transport) })
    }

    /// Where the worker's jobs come from, besides the store.
    pub(crate) fn start(&mut self) -> Option<Arc<dyn Source>> {
        self.transport.as_mut().map(bindery_amqp::Transport::start)
    }

    /// After the worker has stopped.
    pub(crate) async fn stop(self) {
        if let Some(transport) = self.transport {
            transport.stop().await;
        }
    }
}

#[cfg(not(feature = "amqp"))]
impl Broker {
    #[expect(clippy::unused_async, reason = "as with the feature")]
    pub async fn connect(_: &App, url: Option<String>, _: &mut WorkerOptions) -> AppResult<Self> {
        match url {
            None => Ok(Self::default()),
            Some(_) => Err(BrokerError::NotBuiltIn.into()),
        }
    }

    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn start(&mut self) -> Option<Arc<dyn Source>> {
        None
    }

    #[expect(clippy::unused_async, clippy::unused_self, reason = "as with the feature")]
    pub(crate) async fn stop(self) {}
}
