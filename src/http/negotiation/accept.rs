//! Choice of the media type of a response (RFC 9110, section 12.5.1).

use axum::http::{HeaderMap, header};

use crate::http::media_type::MediaType;
use crate::http::problem::{Problem, ProblemKind};

/// Returns the offer that the client prefers: by quality, then by specificity of the media range, then by the order of
/// `offers`. Without an `Accept` header it is the first offer. It is `None` if the client accepts no offer.
pub(crate) fn negotiate(headers: &HeaderMap, offers: &[MediaType]) -> Option<MediaType> {
    if !headers.contains_key(header::ACCEPT) {
        return offers.first().copied();
    }
    let ranges: Vec<(&str, u16)> = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(media_range)
        .collect();
    if ranges.is_empty() {
        return offers.first().copied();
    }
    let rank = |offer: &MediaType| {
        // The most specific range decides, even if another range has a higher quality. A client may name several
        // versions of a type, each with its own quality; the highest counts.
        let (specificity, quality) =
            ranges.iter().map(|(range, quality)| (offer.specificity(range), *quality)).max()?;
        (specificity > 0 && quality > 0).then_some((quality, specificity))
    };
    let ranked = offers.iter().filter_map(|offer| Some((rank(offer)?, *offer)));
    // `max_by_key` returns the last of equal elements.
    ranked.rev().max_by_key(|(rank, _)| *rank).map(|(_, offer)| offer)
}

/// Returns the offer that the client prefers, by the rules of [`negotiate`].
///
/// # Errors
/// `not-acceptable`, with the list of offers, if the client accepts no offer.
pub(crate) fn choose(headers: &HeaderMap, offers: &[MediaType]) -> Result<MediaType, Problem> {
    choose_for(headers, offers, "this path", "")
}

/// Returns the offer that the client prefers, on a path whose offers depend on the request. `what` names the kind of
/// request, and `others` is a sentence about the other offers.
///
/// # Errors
/// See [`choose`].
pub(crate) fn choose_for(
    headers: &HeaderMap,
    offers: &[MediaType],
    what: &str,
    others: &str,
) -> Result<MediaType, Problem> {
    negotiate(headers, offers).ok_or_else(|| {
        let names: Vec<&str> = offers.iter().map(|offer| offer.names()[0]).collect();
        let detail = format!("The `Accept` header excludes every media type of {what}: {}.", names.join(", "));
        Problem::new(ProblemKind::NotAcceptable, format!("{detail} {others}").trim_end().to_owned())
    })
}

/// True if the client accepts gzip and does not prefer an uncompressed body (RFC 9110, section 12.5.3).
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let codings: Vec<(&str, u16)> = values.flat_map(|value| value.split(',')).filter_map(quality).collect();
    let quality_of =
        |name: &str| codings.iter().find(|(coding, _)| coding.eq_ignore_ascii_case(name)).map(|(_, is)| *is);
    let gzip = quality_of("gzip").or_else(|| quality_of("*")).unwrap_or(0);
    gzip > 0 && gzip >= quality_of("identity").unwrap_or(0)
}

/// Parses a media range and its quality.
fn media_range(text: &str) -> Option<(&str, u16)> {
    quality(text).filter(|(range, _)| range.contains('/'))
}

/// Parses a name and its quality in thousandths. Parameters other than `q` are ignored; an invalid quality returns
/// `None`.
fn quality(text: &str) -> Option<(&str, u16)> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next()?;
    let quality = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    match quality.map(str::parse::<f32>) {
        None => Some((name, 1000)),
        Some(Ok(quality)) if (0.0..=1.0).contains(&quality) => Some((name, (quality * 1000.0).round() as u16)),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(accept: &str, offers: &[MediaType]) -> Option<MediaType> {
        negotiate(&HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]), offers)
    }

    const PLAIN: [MediaType; 2] = [MediaType::Json, MediaType::Text];
    const PAGE: [MediaType; 3] = [MediaType::Json, MediaType::Text, MediaType::Html];

    #[test]
    fn json_is_the_default() {
        assert_eq!(negotiate(&HeaderMap::new(), &PLAIN), Some(MediaType::Json));
        for accept in ["*/*", "", "application/*", "application/problem+json", "garbage", "APPLICATION/JSON"] {
            assert_eq!(best(accept, &PLAIN), Some(MediaType::Json), "{accept}");
        }
    }

    #[test]
    fn quality_decides_then_specificity_then_the_order_of_the_offers() {
        assert_eq!(best("text/plain", &PLAIN), Some(MediaType::Text));
        assert_eq!(best("application/json;q=0.5, text/plain;q=0.8", &PLAIN), Some(MediaType::Text));
        assert_eq!(best("text/plain, */*", &PLAIN), Some(MediaType::Text));
        assert_eq!(best("text/plain, application/json", &PLAIN), Some(MediaType::Json));
        assert_eq!(best("application/json, text/plain, */*", &PLAIN), Some(MediaType::Json));
        assert_eq!(best("text/*", &PAGE), Some(MediaType::Text));
        assert_eq!(
            best("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", &PAGE),
            Some(MediaType::Html)
        );
        assert_eq!(
            best("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", &PLAIN),
            Some(MediaType::Json)
        );
    }

    #[test]
    fn of_several_versions_of_a_type_the_highest_quality_counts() {
        const OFFERS: [MediaType; 2] = [MediaType::PrometheusText, MediaType::OpenMetrics];
        for (accept, expected) in [
            (
                "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.3,\
              text/plain;version=0.0.4;q=0.4,*/*;q=0.1",
                MediaType::OpenMetrics,
            ),
            (
                "application/openmetrics-text;version=0.0.1;q=0.3,application/openmetrics-text;version=1.0.0;q=0.5,\
              text/plain;version=0.0.4;q=0.4",
                MediaType::OpenMetrics,
            ),
            (
                "text/plain;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.2,application/openmetrics-text;q=0.5",
                MediaType::PrometheusText,
            ),
        ] {
            assert_eq!(best(accept, &OFFERS), Some(expected), "{accept}");
        }
    }

    #[test]
    fn the_most_specific_range_can_exclude_a_type() {
        assert_eq!(best("*/*, application/json;q=0, application/problem+json;q=0", &PLAIN), Some(MediaType::Text));
        assert_eq!(best("text/plain; q=0, text/*", &[MediaType::Text]), None);
    }

    #[test]
    fn the_problem_lists_the_offers() {
        let headers = HeaderMap::from_iter([(header::ACCEPT, "image/png".parse().unwrap())]);
        let problem = choose(&headers, &PLAIN).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::NotAcceptable);
        assert!(problem.detail.contains("application/json, text/plain"), "{}", problem.detail);
    }
}
