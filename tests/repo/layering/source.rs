//! One source file: its paths and lines, without comments and tests.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Item, ItemMacro, ItemMod, ItemUse, Macro, UseTree, Visibility};

/// A violation of a rule.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Violation {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// A path in the code. Each branch of a `use` is a path of its own.
#[derive(Debug)]
pub(crate) struct PathUse {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    /// Index into [`Source::modules`].
    pub(crate) module: usize,
    pub(crate) kind: PathKind,
}

/// Context of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PathKind {
    /// In a private `use`.
    Import,
    /// In a `use` with a visibility.
    Reexport,
    /// Anywhere else. A path of one name may be a local.
    Code,
}

/// The names in a module: a file, or `mod name { … }` within one.
#[derive(Default, Debug)]
pub(crate) struct Module {
    /// From the crate's root.
    pub(crate) path: Vec<String>,
    pub(crate) items: HashSet<String>,
    /// Paths, by the names that `use` gives them.
    pub(crate) imports: HashMap<String, Vec<String>>,
    pub(crate) globs: Vec<Vec<String>>,
}

/// A file of a crate.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path within `src`, with slashes.
    pub(crate) file: String,
    /// The file's own module, then those within it.
    pub(crate) modules: Vec<Module>,
    pub(crate) paths: Vec<PathUse>,
    /// Lines with `unsafe`, or with an attribute for it.
    pub(crate) unsafe_lines: Vec<usize>,
    /// Number of lines with code.
    pub(crate) lines: usize,
}

impl Source {
    /// All files of the service and of `taquin-solver` except `tests.rs` files.
    pub(crate) fn all() -> Vec<Self> {
        // The root of the solver's crate has re-exports alone.
        let solver = Self::all_in("crates/taquin-solver/src").into_iter().filter(|source| source.file != "lib.rs");
        solver.chain(Self::all_in("src")).collect()
    }

    /// The files of a folder of the repository, without `tests.rs` files.
    pub(crate) fn all_in(folder: &str) -> Vec<Self> {
        let (src, mut files) = (&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), Vec::new());
        collect(src, &mut files);
        assert!(files.len() >= 10, "files of `src` are missing: {files:?}");
        let relative = |file: &PathBuf| file.strip_prefix(src).unwrap().to_str().unwrap().replace('\\', "/");
        let sources = files.iter().filter(|file| !file.ends_with("tests.rs"));
        sources.map(|file| Self::new(&relative(file), &fs::read_to_string(file).unwrap())).collect()
    }

    pub(crate) fn new(file: &str, text: &str) -> Self {
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
        let tokens = without_tests(tokens);
        let (mut unsafe_lines, mut lines) = (Vec::new(), BTreeSet::new());
        read(tokens.clone(), &mut unsafe_lines, &mut lines);
        let tree: syn::File = syn::parse2(tokens).unwrap_or_else(|error| panic!("{file}: {error}"));
        let own = Module { path: module_path(file), ..Module::default() };
        let mut reader = Reader { modules: vec![own], paths: Vec::new(), module: 0 };
        reader.visit_file(&tree);
        let Reader { modules, paths, .. } = reader;
        Self { file: file.to_owned(), modules, paths, unsafe_lines, lines: lines.len() }
    }

    pub(crate) fn violation(&self, line: usize, what: String) -> Violation {
        Violation { file: self.file.clone(), line, what }
    }

    /// The layer of the file; the name of the file if it is in none.
    pub(crate) fn part(&self) -> &str {
        self.file.split(['/', '.']).next().expect("a path")
    }
}

/// `domain/board.rs` and `domain/board/mod.rs` are `["domain", "board"]`; `lib.rs` is the root.
fn module_path(file: &str) -> Vec<String> {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').filter(|name| *name != "lib").map(str::to_owned).collect()
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
}

/// Drops every item with `#[cfg(test)]`, and its doc comment.
fn without_tests(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) if is_cfg_test(&group) => {
                kept.pop();
                // The item's doc comment, if it comes before the attribute.
                while let [.., sign, doc] = &kept[..]
                    && is_sign(sign, '#')
                    && is_doc(doc)
                {
                    kept.truncate(kept.len() - 2);
                }
                // The item ends with a body or a semicolon. A semicolon may also follow the braces.
                let is_end = |token: &TokenTree| match token {
                    TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                    token => is_sign(token, ';'),
                };
                tokens.by_ref().find(is_end);
                tokens.next_if(|token| is_sign(token, ';'));
            }
            TokenTree::Group(group) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), without_tests(group.stream()));
                inner.set_span(group.span());
                kept.push(inner.into());
            }
            token => kept.push(token),
        }
    }
    kept.into_iter().collect()
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn is_cfg_test(group: &proc_macro2::Group) -> bool {
    group.delimiter() == Delimiter::Bracket && group.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// Collects lines with `unsafe` and lines with code. Doc comments are attributes in the token stream, and are skipped.
fn read(tokens: TokenStream, unsafe_lines: &mut Vec<usize>, lines: &mut BTreeSet<usize>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if is_sign(&token, '#') {
            let is_inner = tokens.peek().is_some_and(|next| is_sign(next, '!'));
            let mut ahead = tokens.clone();
            let group = if is_inner { ahead.nth(1) } else { ahead.next() };
            if group.is_some_and(|group| is_doc(&group)) {
                tokens.nth(usize::from(is_inner));
                continue;
            }
        }
        match token {
            TokenTree::Group(group) => {
                lines.extend([line(group.span_open()), line(group.span_close())]);
                read(group.stream(), unsafe_lines, lines);
            }
            token => {
                lines.extend(token.span().start().line..=token.span().end().line);
                if ["unsafe", "unsafe_code"].contains(&token.to_string().as_str()) {
                    unsafe_lines.push(line(token.span()));
                }
            }
        }
    }
}

fn is_doc(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(ident)) if ident == "doc")
}

fn line(span: Span) -> usize {
    span.start().line
}

/// Collects names and paths.
struct Reader {
    modules: Vec<Module>,
    paths: Vec<PathUse>,
    /// Index of the current module.
    module: usize,
}

impl Reader {
    fn current_module(&mut self) -> &mut Module {
        &mut self.modules[self.module]
    }

    fn note(&mut self, segments: Vec<String>, span: Span, kind: PathKind) {
        self.paths.push(PathUse { segments, line: line(span), module: self.module, kind });
    }

    fn note_use(&mut self, tree: &UseTree, mut prefix: Vec<String>, kind: PathKind) {
        let mut import = |reader: &mut Self, ident: &Ident, name: &Ident| {
            // `a::{self}` names `a`.
            if ident != "self" || prefix.is_empty() {
                prefix.push(ident.to_string());
            }
            let name = if name == "self" { prefix.last().expect("a name").clone() } else { name.to_string() };
            reader.current_module().imports.insert(name, prefix.clone());
            reader.note(prefix.clone(), ident.span(), kind);
        };
        match tree {
            UseTree::Name(name) => import(self, &name.ident, &name.ident),
            UseTree::Rename(rename) => import(self, &rename.ident, &rename.rename),
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.note_use(&path.tree, prefix, kind);
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.note_use(tree, prefix.clone(), kind));
            }
            UseTree::Glob(glob) => {
                self.current_module().globs.push(prefix.clone());
                self.note(prefix, glob.span(), kind);
            }
        }
    }

    /// Notes the paths in the input of a macro, which may not be valid Rust.
    fn note_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<Ident> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(ident) if colons == 2 && !path.is_empty() => {
                    path.push(ident);
                    colons = 0;
                }
                token => {
                    self.note_idents(&path);
                    (path, colons) = (Vec::new(), 0);
                    match token {
                        TokenTree::Ident(ident) => path.push(ident),
                        TokenTree::Group(group) => self.note_tokens(group.stream()),
                        _ => {}
                    }
                }
            }
        }
        self.note_idents(&path);
    }

    fn note_idents(&mut self, path: &[Ident]) {
        if let Some(first) = path.first() {
            self.note(path.iter().map(Ident::to_string).collect(), first.span(), PathKind::Code);
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let name = match item {
            Item::Const(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Fn(item) => Some(&item.sig.ident),
            Item::Static(item) => Some(&item.ident),
            Item::Struct(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::TraitAlias(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            Item::Union(item) => Some(&item.ident),
            Item::Macro(ItemMacro { ident, .. }) => ident.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.current_module().items.insert(name.to_string());
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let Some((_, items)) = &item.content else { return };
        let mut path = self.current_module().path.clone();
        path.push(item.ident.to_string());
        let outer = std::mem::replace(&mut self.module, self.modules.len());
        self.modules.push(Module { path, ..Module::default() });
        items.iter().for_each(|item| self.visit_item(item));
        self.module = outer;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let kind = if matches!(item.vis, Visibility::Inherited) { PathKind::Import } else { PathKind::Reexport };
        self.note_use(&item.tree, Vec::new(), kind);
    }

    /// Skips visibilities: the path of `pub(in …)` is not a dependency.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.note(segments, path.span(), PathKind::Code);
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        match &attribute.meta {
            // These attributes name tools and settings, not code: `allow(clippy::…)`.
            meta if ["doc", "allow", "expect", "cfg", "cfg_attr"].iter().any(|name| meta.path().is_ident(name)) => {}
            syn::Meta::List(list) => {
                self.visit_path(&list.path);
                self.note_tokens(list.tokens.clone());
            }
            meta => self.visit_path(meta.path()),
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.visit_path(&mac.path);
        self.note_tokens(mac.tokens.clone());
    }
}
