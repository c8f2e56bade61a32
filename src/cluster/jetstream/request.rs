//! A request for a message.

use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::consumer::pull::Batch;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt;
use tokio::runtime::Handle;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

/// Any error of the client.
pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Time after which a request ends at the server. A server does not respond to one for a consumer that is missing, so this is
/// also the time until that is noted.
const TAKE_TIME: Duration = Duration::from_secs(10);

/// Time within which the server says that a request has ended. A busy server begins to count later than the client does.
const END_TIME: Duration = Duration::from_secs(5);

/// A request for a message. After it is dropped, a message that arrives nevertheless goes back to the queue at once.
pub(super) struct Request(Option<Batch>);

type Response = Option<Result<Message, BoxError>>;

impl Request {
    pub(super) async fn send(consumer: &PullConsumer) -> Result<Self, BoxError> {
        // `fetch` does not wait at the server, so that it does not count as a taker.
        Ok(Self(Some(consumer.batch().max_messages(1).expires(TAKE_TIME).messages().await?)))
    }

    /// Waits for the message; `None` if the server has none. It is an error if the server says nothing.
    pub(super) async fn response(&mut self) -> Result<Response, Elapsed> {
        let Some(messages) = &mut self.0 else { return Ok(None) };
        let response = response(messages).await?;
        self.0 = None;
        Ok(response)
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let (Some(mut messages), Ok(runtime)) = (self.0.take(), Handle::try_current()) else { return };
        runtime.spawn(async move {
            if let Ok(Some(Ok(message))) = response(&mut messages).await {
                let _ = message.ack_with(AckKind::Nak(None)).await;
            }
        });
    }
}

async fn response(messages: &mut Batch) -> Result<Response, Elapsed> {
    timeout(TAKE_TIME + END_TIME, messages.next()).await
}
