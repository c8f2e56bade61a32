//! The closed set of problem types, with slug, status, title and description of each.

use axum::http::StatusCode;
use taquin_bulk::ErrorKind;

impl ProblemKind {
    /// The last segment of the URI `type` of the problem. It is stable.
    pub fn slug(self) -> &'static str {
        self.row().slug
    }

    /// The status of all problems of this kind.
    pub fn status(self) -> StatusCode {
        self.row().status
    }

    /// The title of all problems of this kind: a few words.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// Meaning of the kind and advice to the client, in a few sentences.
    pub fn description(self) -> &'static str {
        self.row().description
    }

    /// Returns the kind with this slug.
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.iter().find(|kind| kind.slug() == slug).copied()
    }

    /// Returns the kind for the status of an error response that has no problem.
    pub fn from_status(status: StatusCode) -> Self {
        match status {
            StatusCode::BAD_REQUEST => Self::InvalidParameter,
            StatusCode::SERVICE_UNAVAILABLE => Self::Overloaded,
            _ => {
                let other = if status.is_server_error() { Self::Internal } else { Self::InvalidRequest };
                Self::ALL.iter().find(|kind| kind.status() == status).copied().unwrap_or(other)
            }
        }
    }
}

impl From<ErrorKind> for ProblemKind {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::MalformedJson => Self::MalformedJson,
            ErrorKind::InvalidParameter => Self::InvalidParameter,
            ErrorKind::InvalidRequest => Self::InvalidRequest,
            ErrorKind::InvalidBoard => Self::InvalidBoard,
            ErrorKind::GoalMismatch => Self::GoalMismatch,
            ErrorKind::UnsupportedCombination => Self::UnsupportedCombination,
            ErrorKind::Unsolvable => Self::Unsolvable,
            ErrorKind::ContentTooLarge => Self::ContentTooLarge,
            ErrorKind::Internal => Self::Internal,
        }
    }
}

struct Row {
    slug: &'static str,
    status: StatusCode,
    title: &'static str,
    description: &'static str,
}

/// Row of a kind that rows of bulk work have too.
fn of_rows(kind: ErrorKind) -> Row {
    let status = StatusCode::from_u16(kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Row { slug: kind.slug(), status, title: kind.title(), description: "" }
}

/// Declares [`ProblemKind`] with the row of each kind.
macro_rules! problem_kinds {
    ($($kind:ident => $row:expr,)+) => {
        /// A problem type of the contract. Every failure response of the service has one of these types.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[expect(missing_docs, reason = "the row of each has a description")]
        pub enum ProblemKind {
            $($kind,)+
        }

        impl ProblemKind {
            /// All kinds, in the order of the contract.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            fn row(self) -> Row {
                match self {
                    $(Self::$kind => $row,)+
                }
            }
        }
    };
}

problem_kinds! {
    MalformedJson => Row {
        description: "The body, or a line of a batch, is empty, is not UTF-8, is nested too deeply, or is not exactly \
            one JSON document. The detail gives the line and column where reading stopped. Correct the body and send \
            it again. An example of a valid body: `curl --json '{\"board\": \"8 6 7/2 5 4/3 0 1\"}' URL`.",
        ..of_rows(ErrorKind::MalformedJson)
    },
    InvalidParameter => Row {
        description: "A parameter of the query string is unknown, has two different values, is wrongly \
            percent-encoded, or has a value outside its range. Every error is listed under `errors`, with a pointer \
            to the parameter. Correct them all and send the request again.",
        ..of_rows(ErrorKind::InvalidParameter)
    },
    InvalidHeader => Row {
        slug: "invalid-header",
        status: StatusCode::BAD_REQUEST,
        title: "A header is not valid",
        description: "A header that every request needs is missing, is given twice, or has a value that HTTP does not \
            allow, or the digest in `Content-Digest` does not match the body. The detail names the header. HTTP \
            libraries and curl send valid headers by themselves; a program that writes requests by hand must send \
            exactly one `Host`.",
    },
    InvalidRequest => Row {
        description: "The body can be read, but a field is missing, unknown, of the wrong type, outside its range, or \
            given twice with different values. Every error is listed under `errors`, with a JSON pointer to its \
            place. Correct them all and send the request again.",
        ..of_rows(ErrorKind::InvalidRequest)
    },
    InvalidBoard => Row {
        description: "A board has 2 to 10 rows and columns, all rows of one length, one blank, and each tile from 1 \
            up exactly once. Every error is listed under `errors`, with a pointer to the offending cell. Correct the \
            board; a flat list that is not square needs `rows` and `cols`.",
        ..of_rows(ErrorKind::InvalidBoard)
    },
    GoalMismatch => Row {
        description: "The goal does not have the size of the board, so no moves lead from one to the other. Give a \
            goal with the same number of rows and columns, or a named one: `blank_last`, `blank_first` or `snail`.",
        ..of_rows(ErrorKind::GoalMismatch)
    },
    UnsupportedCombination => Row {
        description: "Each option is valid by itself, but the algorithm, the heuristic, the board and the other \
            options conflict, or the server cannot guarantee the required result. The detail names the conflict. \
            Change one of the options, or leave `algorithm` and `heuristic` at `auto`; `/info` lists the supported \
            combinations.",
        ..of_rows(ErrorKind::UnsupportedCombination)
    },
    Unsolvable => Row {
        description: "The board is valid, but no sequence of moves leads from it to the goal. This holds for half of \
            all boards. Every move changes the parity of the tile permutation and the parity of the blank's distance \
            to its goal cell, so the two must agree from the start; `permutation_parity` and `blank_distance` show \
            that they do not. Choose a goal from `reachable_goals`, or swap any two tiles to \
            make the board solvable.",
        ..of_rows(ErrorKind::Unsolvable)
    },
    SearchLimitExceeded => Row {
        slug: "search-limit-exceeded",
        status: StatusCode::UNPROCESSABLE_ENTITY,
        title: "A limit ended the search",
        description: "The search reached the limit named by `limit` (time, expansions, nodes or depth) before it met \
            the requirement. Raise that limit if the server allows it (see `/info`), choose a stronger heuristic, or \
            accept a longer solution with `\"require\": \"any\"`. Repeating the same request will most likely end the \
            same way.",
    },
    IdempotencyKeyReused => Row {
        slug: "idempotency-key-reused",
        status: StatusCode::UNPROCESSABLE_ENTITY,
        title: "The idempotency key belongs to another job",
        description: "A job was created with this `Idempotency-Key` before, and its boards, goal, `want` or limits \
            are different. Send the first request again to get that job, or choose a new key for a new job.",
    },
    ResultsTooLarge => Row {
        slug: "results-too-large",
        status: StatusCode::UNPROCESSABLE_ENTITY,
        title: "The job has too many rows for text",
        description: "The rows of this job would take gigabytes as text. Get its parts, which have a byte or two for \
            each board, or run `taquin batch` on the directory of the job. `?part=` returns the rows of one part.",
    },
    Overloaded => Row {
        slug: "overloaded",
        status: StatusCode::SERVICE_UNAVAILABLE,
        title: "The server has no capacity left",
        description: "The queue is full, the time limit expired while the request was queued, long responses that \
            clients have not read yet leave no memory for another one, or the server is still starting. The request \
            itself is valid. Send it again after the number of seconds in `Retry-After`.",
    },
    ShuttingDown => Row {
        slug: "shutting-down",
        status: StatusCode::SERVICE_UNAVAILABLE,
        title: "The server is shutting down",
        description: "This instance finishes its current requests and accepts no new ones. The request itself is \
            valid. Send it again after the number of seconds in `Retry-After`; another instance will handle it.",
    },
    RateLimited => Row {
        slug: "rate-limited",
        status: StatusCode::TOO_MANY_REQUESTS,
        title: "Too many requests",
        description: "This client has exceeded its rate limit. Send the request again after the number of seconds in \
            `Retry-After`, and send requests less often.",
    },
    TooManyJobs => Row {
        slug: "too-many-jobs",
        status: StatusCode::TOO_MANY_REQUESTS,
        title: "Too many unfinished jobs",
        description: "This client has as many unfinished jobs as the server allows; `/info` has the number. Wait \
            until one of them has ended, or cancel one with `DELETE`. `GET /jobs` lists them.",
    },
    Unauthorized => Row {
        slug: "unauthorized",
        status: StatusCode::UNAUTHORIZED,
        title: "A valid token is required",
        description: "The request has no bearer token, or one that is not valid. Send `Authorization: Bearer …` with \
            a token from the operator of the server.",
    },
    CrossSiteRequest => Row {
        slug: "cross-site-request",
        status: StatusCode::FORBIDDEN,
        title: "A page of another site sent the request",
        description: "The browser reports that a page of another site sent the request, and the page's origin is not \
            allowed. Such a page could otherwise use a visitor's own service. To allow the origin, the operator \
            starts the service with `--cors-origins`. Links to the service may be followed from every page.",
    },
    UnknownHost => Row {
        slug: "unknown-host",
        status: StatusCode::MISDIRECTED_REQUEST,
        title: "The host name is not allowed",
        description: "The service was started with `--allowed-hosts`, and the host name of the request is not in the \
            list. This protects against pages whose host name suddenly leads to the service (DNS rebinding). Use a \
            name from the list, an IP address or `localhost`, or ask the operator to add the name.",
    },
    ContentTooLarge => Row {
        description: "The body exceeds the maximum size, its JSON the maximum number of values, or a batch the \
            maximum number of boards; the detail gives the maximum. The largest board takes less than a kilobyte, so \
            check the body for unrelated content. Send several smaller batches, or use the command `taquin batch`, \
            which has no maximum.",
        ..of_rows(ErrorKind::ContentTooLarge)
    },
    RequestTimeout => Row {
        slug: "request-timeout",
        status: StatusCode::REQUEST_TIMEOUT,
        title: "The body did not arrive in time",
        description: "The body did not arrive in full within the server's timeout, which a batch has for each MiB. \
            Send the request again, with the whole body at once. Check `Content-Length` too: a value that is too \
            large has the same effect.",
    },
    UnsupportedMediaType => Row {
        slug: "unsupported-media-type",
        status: StatusCode::UNSUPPORTED_MEDIA_TYPE,
        title: "Unsupported media type",
        description: "A body must be `application/json`, or `text/plain` with a board, in UTF-8 and not compressed. \
            With curl, use `--json '…'` instead of `-d '…'`; with `fetch`, set the header `Content-Type: \
            application/json`. A batch is `application/x-ndjson`, `application/jsonl` or `text/csv`.",
    },
    NotAcceptable => Row {
        slug: "not-acceptable",
        status: StatusCode::NOT_ACCEPTABLE,
        title: "No acceptable media type",
        description: "The `Accept` header excludes every media type of this response; the detail lists them. Accept \
            one of those, or omit the header.",
    },
    PreconditionFailed => Row {
        slug: "precondition-failed",
        status: StatusCode::PRECONDITION_FAILED,
        title: "The precondition is not met",
        description: "No tag in `If-Match` matches the response. The comparison is strong and all tags except the \
            tags of parts of jobs are weak, so only `If-Match: *` is met. To revalidate a cached response, send \
            `If-None-Match`.",
    },
    RangeNotSatisfiable => Row {
        slug: "range-not-satisfiable",
        status: StatusCode::RANGE_NOT_SATISFIABLE,
        title: "The range is beyond the end",
        description: "The range in `Range` begins behind the last byte of the part. `Content-Range` has the length of \
            the part. Ask for a range within it, or omit the header.",
    },
    JobStateConflict => Row {
        slug: "job-state-conflict",
        status: StatusCode::CONFLICT,
        title: "The job is in another state",
        description: "A job that has ended cannot be cancelled, and one that has not ended cannot be deleted. `only` \
            of the request allowed one of the two, and nothing was changed. `GET /jobs/{id}` has the state of the \
            job.",
    },
    NotFound => Row {
        slug: "not-found",
        status: StatusCode::NOT_FOUND,
        title: "No resource at this path",
        description: "No resource has this path. `suggestion` is a path that is spelled similarly, if there is one. \
            `GET /` shows examples, and `/openapi.yaml` describes every path.",
    },
    MethodNotAllowed => Row {
        slug: "method-not-allowed",
        status: StatusCode::METHOD_NOT_ALLOWED,
        title: "Method not allowed",
        description: "The path exists, but does not support this method. The `Allow` header lists the supported \
            methods.",
    },
    NotImplemented => Row {
        slug: "not-implemented",
        status: StatusCode::NOT_IMPLEMENTED,
        title: "Not implemented",
        description: "The request uses a part of HTTP that the service does not implement, or batches, which this \
            server has turned off. The detail names it. A body may have the transfer coding `chunked` and no other: \
            send it uncompressed. Send the boards of a batch to `/solve`, or use the command `taquin batch`.",
    },
    StorageFull => Row {
        slug: "storage-full",
        status: StatusCode::INSUFFICIENT_STORAGE,
        title: "The disk of the server is full",
        description: "The directory of the jobs has no room. The request itself is valid. Delete jobs that are no \
            longer needed, or ask the operator for room, and send the request again.",
    },
    Internal => Row {
        description: "This is a bug in the server, not in the request. Report it with the `request_id`, which leads \
            the operator to the cause in the log.",
        ..of_rows(ErrorKind::Internal)
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_leads_back_to_its_kind() {
        for kind in ProblemKind::ALL.iter().copied() {
            assert_eq!(ProblemKind::from_slug(kind.slug()), Some(kind));
            assert!(kind.slug().bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", kind.slug());
        }
        assert_eq!(ProblemKind::from_slug("nothing"), None);
    }

    #[test]
    fn errors_of_rows_have_the_names_and_statuses_of_their_problems() {
        for row in ErrorKind::ALL {
            let kind = ProblemKind::from(row);
            assert_eq!((kind.slug(), kind.title(), kind.status().as_u16()), (row.slug(), row.title(), row.status()));
        }
    }

    #[test]
    fn every_kind_has_an_error_status_and_two_to_four_sentences() {
        for kind in ProblemKind::ALL.iter().copied() {
            assert!(kind.status().is_client_error() || kind.status().is_server_error());
            let sentences = kind.description().matches(['.', ';']).count();
            assert!((2..=6).contains(&sentences), "{kind:?}: {sentences}");
            assert!(!kind.description().contains("  "), "{kind:?}");
        }
    }

    #[test]
    fn a_bare_status_finds_its_kind() {
        assert_eq!(ProblemKind::from_status(StatusCode::NOT_FOUND), ProblemKind::NotFound);
        assert_eq!(ProblemKind::from_status(StatusCode::PAYLOAD_TOO_LARGE), ProblemKind::ContentTooLarge);
        assert_eq!(ProblemKind::from_status(StatusCode::SERVICE_UNAVAILABLE), ProblemKind::Overloaded);
        assert_eq!(ProblemKind::from_status(StatusCode::BAD_GATEWAY), ProblemKind::Internal);
    }
}
