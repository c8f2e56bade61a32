//! Names and configurations of the stream and its consumers, and the subjects of messages.

use std::time::Duration;

use async_nats::jetstream::consumer::{self, AckPolicy, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};

use crate::task::TaskClass;

/// Names, lease time and number of replicas of a queue. Tests use other values than the service.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) stream: String,
    /// Prefix of all task subjects.
    pub(crate) prefix: String,
    pub(crate) lease_time: Duration,
    pub(crate) replicas: usize,
}

impl Layout {
    /// The subject of the requests that workers answer. The subject does not belong to the stream.
    pub(crate) fn workers(&self) -> String {
        format!("{}.workers", self.stream)
    }

    /// The subject of worker reports. The subject does not belong to the stream.
    pub(crate) fn reports(&self) -> String {
        format!("{}.reports", self.stream)
    }

    pub(crate) fn stream_config(&self) -> Config {
        Config {
            name: self.stream.clone(),
            subjects: vec![format!("{}.>", self.prefix)],
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            num_replicas: self.replicas,
            ..Config::default()
        }
    }

    /// Returns true if a stream with this configuration behaves as the queue requires. The number of replicas is
    /// not compared.
    pub(crate) fn has(&self, config: &Config) -> bool {
        let own = self.stream_config();
        config.subjects == own.subjects
            && config.retention == own.retention
            && config.max_messages_per_subject == own.max_messages_per_subject
            && config.discard == own.discard
            && config.discard_new_per_subject == own.discard_new_per_subject
    }

    /// Returns true if a consumer with this configuration delivers the tasks of a class, and waits for
    /// acknowledgements.
    pub(crate) fn has_consumer(&self, class: TaskClass, config: &consumer::Config) -> bool {
        let own = self.consumer_config(class);
        config.filter_subject == own.filter_subject && config.ack_policy == own.ack_policy
    }

    pub(crate) fn consumer_config(&self, class: TaskClass) -> pull::Config {
        let name = match class {
            TaskClass::Bulk => "workers",
            TaskClass::Quick => "workers-quick",
        };
        pull::Config {
            durable_name: Some(name.to_owned()),
            filter_subject: format!("{}.{}.>", self.prefix, taquin_solver::Named::name(class)),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.lease_time,
            max_ack_pending: 100_000,
            max_waiting: 65_536,
            ..pull::Config::default()
        }
    }
}
