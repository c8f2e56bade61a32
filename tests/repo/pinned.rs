//! Images and actions that build Taquin are pinned by digest: a tag can be moved to other content.

use std::fs;
use std::path::PathBuf;

/// References without a digest, and why.
const UNPINNED: [(&str, &str); 1] = [("scratch", "the empty image")];

#[test]
fn images_and_actions_are_pinned_by_digest() {
    let mut faults = Vec::new();
    let mut count = 0;
    for (path, references) in [("Dockerfile".into(), images as fn(&str) -> Vec<String>)]
        .into_iter()
        .chain(workflows().into_iter().map(|path| (path, actions as _)))
    {
        let text = fs::read_to_string(&path).expect("the file can be read");
        let found = references(&text);
        count += found.len();
        let unpinned = found.iter().filter(|reference| !is_pinned(reference));
        faults.extend(unpinned.map(|reference| format!("{}: {reference}", path.display())));
    }
    assert!(count > 10, "only {count} references");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn workflows() -> Vec<PathBuf> {
    let entries = fs::read_dir(".github/workflows").expect("the directory can be read");
    entries.map(|entry| entry.expect("the entry can be read").path()).collect()
}

/// What each `FROM`, `--from=` and `from=` of a Dockerfile names, except its own stages.
fn images(dockerfile: &str) -> Vec<String> {
    let (mut stages, mut images) = (Vec::new(), Vec::new());
    for line in dockerfile.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_from = words.first().is_some_and(|word| word.eq_ignore_ascii_case("FROM"));
        let image = words.iter().skip(1).find(|word| is_from && !word.starts_with("--"));
        let mut options = words.iter().flat_map(|word| word.split(','));
        let copied = options.find_map(|option| option.trim_start_matches("--").strip_prefix("from="));
        let names = image.copied().into_iter().chain(copied);
        images.extend(names.filter(|name| !stages.contains(name)).map(str::to_owned));
        if let (true, [.., keyword, stage]) = (is_from, words.as_slice())
            && keyword.eq_ignore_ascii_case("AS")
        {
            stages.push(stage);
        }
    }
    images
}

/// What each `uses:`, `container:` and `image:` of a workflow names, with the comment after it.
fn actions(workflow: &str) -> Vec<String> {
    let lines = workflow.lines().map(|line| line.trim().trim_start_matches("- "));
    let values = lines.filter_map(|line| {
        ["uses:", "container:", "image:"].into_iter().find_map(|key| line.strip_prefix(key)).map(str::trim)
    });
    values.filter(|value| !value.is_empty()).map(|value| value.replace(['"', '\''], "")).collect()
}

/// Images have a tag and a digest. Actions have a commit, and their version in a comment.
fn is_pinned(reference: &str) -> bool {
    let is_hex = |text: &str, length| text.len() == length && text.chars().all(|digit| digit.is_ascii_hexdigit());
    let is_pinned = match reference.split_once('@') {
        Some((image, digest)) if digest.starts_with("sha256:") => {
            image.contains(':') && is_hex(&digest["sha256:".len()..], 64)
        }
        Some((_, commit)) => commit.split_once(" # v").is_some_and(|(commit, _)| is_hex(commit, 40)),
        None => reference.starts_with("./"),
    };
    is_pinned || UNPINNED.iter().any(|(name, _)| *name == reference)
}

#[test]
fn what_is_not_pinned_is_found() {
    let digest = "a".repeat(64);
    let dockerfile = format!(
        "FROM a:1@sha256:{digest} AS a\nFROM a AS b\nFROM --platform=linux/amd64 c:2\nfrom scratch\n\
         COPY --from=b x x\nCOPY --from=d:3 x x\nRUN --mount=type=bind,from=e:1,source=x true\n"
    );
    let unpinned: Vec<String> = images(&dockerfile).into_iter().filter(|image| !is_pinned(image)).collect();
    assert_eq!(unpinned, ["c:2", "d:3", "e:1"]);
    let commit = "0".repeat(40);
    let workflow = format!(
        "- uses: a/b@{commit} # v1.2.3\n- uses: a/b@{commit}\n- uses: a/b@v1\nuses: ./local\n\
         container: rust:1\ncontainer:\n  image: 'rust@sha256:{digest}'\n"
    );
    let unpinned: Vec<String> = actions(&workflow).into_iter().filter(|action| !is_pinned(action)).collect();
    assert_eq!(unpinned, [&format!("a/b@{commit}"), "a/b@v1", "rust:1", &format!("rust@sha256:{digest}")]);
}
