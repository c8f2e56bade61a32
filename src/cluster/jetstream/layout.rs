//! The stream, its consumers and subjects.

use std::time::Duration;

use async_nats::jetstream::consumer::{self, AckPolicy, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};

use crate::cluster::task::Lane;

/// Names and times, which tests change.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) stream: String,
    /// What the subjects begin with.
    pub(super) prefix: String,
    pub(super) lease_time: Duration,
    pub(super) replicas: usize,
}

impl Layout {
    /// The subject to which workers respond. It is not one of the stream.
    pub(super) fn workers(&self) -> String {
        format!("{}.workers", self.stream)
    }

    /// The subject of the reports of workers: what they cannot do, and why. It is not one of the stream.
    pub(super) fn reports(&self) -> String {
        format!("{}.reports", self.stream)
    }

    pub(super) fn stream_config(&self) -> Config {
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

    /// True if a stream with this configuration keeps the promises of the queue, however many servers store it.
    pub(super) fn has(&self, config: &Config) -> bool {
        let own = self.stream_config();
        config.subjects == own.subjects
            && config.retention == own.retention
            && config.max_messages_per_subject == own.max_messages_per_subject
            && config.discard == own.discard
            && config.discard_new_per_subject == own.discard_new_per_subject
    }

    /// True if a consumer with this configuration gives the tasks of a lane.
    pub(super) fn has_consumer(&self, lane: Lane, config: &consumer::Config) -> bool {
        let own = self.consumer_config(lane);
        config.filter_subject == own.filter_subject && config.ack_policy == own.ack_policy
    }

    pub(super) fn consumer_config(&self, lane: Lane) -> pull::Config {
        let name = match lane {
            Lane::Bulk => "workers",
            Lane::Quick => "workers-quick",
        };
        pull::Config {
            durable_name: Some(name.to_owned()),
            filter_subject: format!("{}.{}.>", self.prefix, taquin_solver::Named::name(lane)),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.lease_time,
            max_ack_pending: 100_000,
            max_waiting: 65_536,
            ..pull::Config::default()
        }
    }
}
