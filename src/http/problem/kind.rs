//! The closed set of problem types, and what each of them means.

use axum::http::StatusCode;

/// A problem type of the contract. Every failure that leaves the service is one of these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the table below says what each one means")]
pub enum ProblemKind {
    MalformedJson,
    InvalidParameter,
    InvalidRequest,
    InvalidBoard,
    GoalMismatch,
    UnsupportedCombination,
    Unsolvable,
    SearchLimitExceeded,
    Overloaded,
    ShuttingDown,
    RateLimited,
    Unauthorized,
    ContentTooLarge,
    RequestTimeout,
    UnsupportedMediaType,
    NotAcceptable,
    NotFound,
    MethodNotAllowed,
    Internal,
}

impl ProblemKind {
    /// Every kind, in the order of the contract.
    pub const ALL: [Self; 19] = {
        let mut kinds = [Self::Internal; 19];
        let mut at = 0;
        while at < kinds.len() {
            kinds[at] = TABLE[at].kind;
            at += 1;
        }
        kinds
    };

    /// The last segment of the problem's `type`; stable.
    pub fn slug(self) -> &'static str {
        self.row().slug
    }

    /// The status every problem of this kind has.
    pub fn status(self) -> StatusCode {
        self.row().status
    }

    /// A few words, the same for every problem of this kind.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// What it means and what to do next, in a few sentences.
    pub fn description(self) -> &'static str {
        self.row().description
    }

    /// The kind with this slug.
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.slug() == slug)
    }

    /// The kind for an error status that some layer answered without saying more.
    pub fn from_status(status: StatusCode) -> Self {
        match status {
            StatusCode::BAD_REQUEST => Self::InvalidParameter,
            StatusCode::SERVICE_UNAVAILABLE => Self::Overloaded,
            _ => Self::ALL.into_iter().find(|kind| kind.status() == status).unwrap_or(if status.is_server_error() {
                Self::Internal
            } else {
                Self::InvalidRequest
            }),
        }
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

struct Row {
    kind: ProblemKind,
    slug: &'static str,
    status: StatusCode,
    title: &'static str,
    description: &'static str,
}

const fn row(
    kind: ProblemKind,
    slug: &'static str,
    status: StatusCode,
    title: &'static str,
    description: &'static str,
) -> Row {
    Row { kind, slug, status, title, description }
}

/// One row for each kind, in the order of the variants.
static TABLE: [Row; 19] = [
    row(
        ProblemKind::MalformedJson,
        "malformed-json",
        StatusCode::BAD_REQUEST,
        "The body cannot be read",
        "The body is empty, is not UTF-8, is nested too deeply, or is not exactly one JSON document. \
         The detail gives the line and column where reading stopped. Correct the body and send it again; \
         `curl --json '{\"board\": \"8 6 7/2 5 4/3 0 1\"}'` sends a body that works.",
    ),
    row(
        ProblemKind::InvalidParameter,
        "invalid-parameter",
        StatusCode::BAD_REQUEST,
        "A query parameter is not valid",
        "A parameter of the query string is unknown, is given twice, is wrongly percent-encoded, or has a value \
         outside its range. Every fault is listed under `errors`, with a pointer that names the parameter. \
         Correct them all and ask again.",
    ),
    row(
        ProblemKind::InvalidRequest,
        "invalid-request",
        StatusCode::UNPROCESSABLE_ENTITY,
        "The request is not valid",
        "The body is JSON, but a field is missing, unknown, given twice, of the wrong type or outside its range. \
         Every fault is listed under `errors`, with a JSON pointer to the place. Correct them all and send it again.",
    ),
    row(
        ProblemKind::InvalidBoard,
        "invalid-board",
        StatusCode::UNPROCESSABLE_ENTITY,
        "The board is not valid",
        "A board has 2 to 10 rows and columns, all rows of one length, one blank, and each tile from 1 up exactly \
         once. Every fault is listed under `errors`, with a pointer to the offending cell. Correct the board; a \
         flat list that is not square needs `rows` and `cols`.",
    ),
    row(
        ProblemKind::GoalMismatch,
        "goal-mismatch",
        StatusCode::UNPROCESSABLE_ENTITY,
        "Board and goal do not go together",
        "The goal has another shape than the board, so no moves lead from one to the other. Give a goal with the \
         same number of rows and columns, or name one: `blank_last`, `blank_first` or `snail`.",
    ),
    row(
        ProblemKind::UnsupportedCombination,
        "unsupported-combination",
        StatusCode::UNPROCESSABLE_ENTITY,
        "These choices do not go together",
        "Each choice is known, but the algorithm, the heuristic, the board or another option do not fit one \
         another, or the server cannot keep the promise that was asked for. The detail says which. Change one of \
         them, or leave both at `auto`; `/info` lists what goes with what.",
    ),
    row(
        ProblemKind::Unsolvable,
        "unsolvable",
        StatusCode::UNPROCESSABLE_ENTITY,
        "The goal cannot be reached",
        "The board is well-formed, but it lies in the other half of all boards: no sequence of moves leads from it \
         to the goal. The members give the parities that prove it. Swap any two tiles of the board to get one that \
         can be solved, or ask for another goal.",
    ),
    row(
        ProblemKind::SearchLimitExceeded,
        "search-limit-exceeded",
        StatusCode::UNPROCESSABLE_ENTITY,
        "A limit ended the search",
        "The search spent its time, expansions or nodes, named by `limit`, before it found what was required. \
         Raise that limit if the server allows it (see `/info`), choose a stronger heuristic, or accept a longer \
         solution with `\"require\": \"any\"`. Repeating the same request will most likely end the same way.",
    ),
    row(
        ProblemKind::Overloaded,
        "overloaded",
        StatusCode::SERVICE_UNAVAILABLE,
        "The server has no capacity left",
        "The queue is full, the time limit passed while the request waited in it, or the server is still starting. \
         Nothing is wrong with the request. Send it again after the seconds that `Retry-After` gives.",
    ),
    row(
        ProblemKind::ShuttingDown,
        "shutting-down",
        StatusCode::SERVICE_UNAVAILABLE,
        "The server is shutting down",
        "This instance finishes what it has begun and takes nothing new. Nothing is wrong with the request. Send it \
         again after the seconds that `Retry-After` gives; another instance will take it.",
    ),
    row(
        ProblemKind::RateLimited,
        "rate-limited",
        StatusCode::TOO_MANY_REQUESTS,
        "Too many requests",
        "This client has used up its quota for now. Send the request again after the seconds that `Retry-After` \
         gives, and send fewer at a time.",
    ),
    row(
        ProblemKind::Unauthorized,
        "unauthorized",
        StatusCode::UNAUTHORIZED,
        "A valid token is needed",
        "The request carries no bearer token, or one that this server does not know. Send \
         `Authorization: Bearer …` with a token from whoever runs the server.",
    ),
    row(
        ProblemKind::ContentTooLarge,
        "content-too-large",
        StatusCode::PAYLOAD_TOO_LARGE,
        "The body is too large",
        "The body has more bytes than this server reads; the detail gives the limit. The largest board takes less \
         than a kilobyte, so look for something in the body that does not belong there.",
    ),
    row(
        ProblemKind::RequestTimeout,
        "request-timeout",
        StatusCode::REQUEST_TIMEOUT,
        "The body came too slowly",
        "The body was announced, but did not arrive in full within the time this server waits for it. Send the \
         request again, and the whole body at once; a wrong `Content-Length` has the same effect.",
    ),
    row(
        ProblemKind::UnsupportedMediaType,
        "unsupported-media-type",
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "The body has a type that is not read here",
        "A body is `application/json`, or `text/plain` that holds a board, in UTF-8 and not compressed. With curl, \
         `--json '…'` in place of `-d '…'` sets the type.",
    ),
    row(
        ProblemKind::NotAcceptable,
        "not-acceptable",
        StatusCode::NOT_ACCEPTABLE,
        "No acceptable answer type",
        "The `Accept` header excludes every type in which this path can answer; the detail lists them. Ask for one \
         of those, or leave the header out.",
    ),
    row(
        ProblemKind::NotFound,
        "not-found",
        StatusCode::NOT_FOUND,
        "There is nothing at this path",
        "No resource has this path. Look for a typing error and for a trailing slash; `GET /` lists the paths, and \
         `/openapi.yaml` describes them.",
    ),
    row(
        ProblemKind::MethodNotAllowed,
        "method-not-allowed",
        StatusCode::METHOD_NOT_ALLOWED,
        "The path does not take this method",
        "The path exists, but not for this method. The `Allow` header lists the methods that it takes.",
    ),
    row(
        ProblemKind::Internal,
        "internal",
        StatusCode::INTERNAL_SERVER_ERROR,
        "The server made a mistake",
        "This is a bug in the server, not in the request. Report it with the `request_id`, by which the operator \
         finds the cause in the log.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_its_rows_in_the_order_of_the_variants() {
        for (at, kind) in ProblemKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at, "{kind:?}");
        }
    }

    #[test]
    fn a_slug_leads_back_to_its_kind() {
        for kind in ProblemKind::ALL {
            assert_eq!(ProblemKind::from_slug(kind.slug()), Some(kind));
            assert!(kind.slug().bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", kind.slug());
        }
        assert_eq!(ProblemKind::from_slug("nothing"), None);
    }

    #[test]
    fn every_kind_has_an_error_status_and_two_to_four_sentences() {
        for kind in ProblemKind::ALL {
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
