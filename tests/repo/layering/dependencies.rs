//! Dependencies between files: from the file that names something to the file that defines it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::source::{PathKind, Source, Violation};

/// Maximum number of re-exports and imports through which a path is followed.
const MAX_STEPS: usize = 16;

/// The module or item that a path names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Target {
    /// Indices of the file and of the module in it.
    Module(usize, usize),
    /// Index of the file.
    Item(usize),
}

/// Dependencies of all files.
pub(crate) struct Dependencies<'s> {
    sources: &'s [Source],
    modules: HashMap<&'s [String], (usize, usize)>,
    /// By file: the files that it depends on, with the first line that names each.
    pub(crate) from: Vec<BTreeMap<usize, usize>>,
}

impl<'s> Dependencies<'s> {
    pub(crate) fn new(sources: &'s [Source]) -> Self {
        let mut modules = HashMap::new();
        for (file, source) in sources.iter().enumerate() {
            for (at, module) in source.modules.iter().enumerate() {
                modules.insert(&module.path[..], (file, at));
            }
        }
        let mut dependencies = Self { sources, modules, from: Vec::new() };
        dependencies.from = (0..sources.len()).map(|file| dependencies.of(file)).collect();
        dependencies
    }

    fn of(&self, file: usize) -> BTreeMap<usize, usize> {
        let mut named = BTreeMap::new();
        // A re-export is not a dependency. A path through it is one, on the file that defines the item.
        for path in self.sources[file].paths.iter().filter(|path| path.kind != PathKind::Reexport) {
            if let Some(Target::Item(to)) = self.resolve((file, path.module), &path.segments, false, 0)
                && to != file
            {
                let line = named.entry(to).or_insert(path.line);
                *line = path.line.min(*line);
            }
        }
        named
    }

    /// The item or module that a path in a module names; `None` for other crates and for locals. `is_module` says that
    /// more names follow.
    fn resolve(&self, from: (usize, usize), path: &[String], is_module: bool, steps: usize) -> Option<Target> {
        if steps > MAX_STEPS {
            return None;
        }
        let own = &self.sources[from.0].modules[from.1].path;
        let supers = path.iter().take_while(|name| *name == "super").count();
        let (first, rest) = path.split_first()?;
        let (mut target, mut rest) = match first.as_str() {
            // `main.rs` names the library by its crate.
            "crate" | "taquin" => (self.module(&[])?, rest),
            "self" => (Target::Module(from.0, from.1), rest),
            "super" => (self.module(&own[..own.len().checked_sub(supers)?])?, &path[supers..]),
            _ => (Target::Module(from.0, from.1), path),
        };
        while let (Target::Module(file, module), Some((name, after))) = (target, rest.split_first()) {
            target = self.lookup((file, module), name, after.is_empty() && !is_module, steps)?;
            rest = after;
        }
        Some(target)
    }

    fn module(&self, path: &[String]) -> Option<Target> {
        self.modules.get(path).map(|(file, module)| Target::Module(*file, *module))
    }

    /// Looks up a name within a module. If a module and an item share the name, it is the item at the end of a path.
    fn lookup(&self, at: (usize, usize), name: &str, is_last: bool, steps: usize) -> Option<Target> {
        let module = &self.sources[at.0].modules[at.1];
        let child = || {
            let path: Vec<String> = module.path.iter().cloned().chain([name.to_owned()]).collect();
            self.module(&path)
        };
        let item = || module.items.contains(name).then_some(Target::Item(at.0));
        let import = || module.imports.get(name).and_then(|path| self.resolve(at, path, !is_last, steps + 1));
        let glob = || {
            module.globs.iter().find_map(|path| match self.resolve(at, path, true, steps + 1)? {
                Target::Module(file, module) => self.lookup((file, module), name, is_last, steps + 1),
                Target::Item(_) => None,
            })
        };
        if is_last {
            item().or_else(import).or_else(glob).or_else(child)
        } else {
            child().or_else(item).or_else(import).or_else(glob)
        }
    }

    /// One violation per set of files that all depend on each other, directly or indirectly.
    pub(crate) fn cycles(&self) -> Vec<Violation> {
        let reached: Vec<BTreeSet<usize>> = (0..self.sources.len()).map(|file| self.reached_from(file)).collect();
        let cycle = |file: usize| -> Vec<usize> {
            reached[file].iter().copied().filter(|other| reached[*other].contains(&file)).collect()
        };
        let cycles: BTreeSet<Vec<usize>> = (0..self.sources.len()).map(cycle).filter(|cycle| cycle.len() > 1).collect();
        cycles.iter().map(|cycle| self.describe_cycle(cycle)).collect()
    }

    fn reached_from(&self, file: usize) -> BTreeSet<usize> {
        let (mut reached, mut open) = (BTreeSet::new(), vec![file]);
        while let Some(file) = open.pop() {
            open.extend(self.from[file].keys().copied().filter(|other| reached.insert(*other)));
        }
        reached
    }

    fn describe_cycle(&self, cycle: &[usize]) -> Violation {
        let dependencies = cycle.iter().flat_map(|file| {
            let dependencies = self.from[*file].iter().filter(|(to, _)| cycle.contains(to));
            dependencies
                .map(|(to, line)| format!("    {}:{line} → {}", self.sources[*file].file, self.sources[*to].file))
        });
        let dependencies: Vec<String> = dependencies.collect();
        let what = format!("{} files in a cycle:\n{}", cycle.len(), dependencies.join("\n"));
        self.sources[cycle[0]].violation(1, what)
    }

    /// Dependencies between the folders of a layer that point up in its order.
    pub(crate) fn upward(&self, layer: &str, order: &[&str]) -> Vec<Violation> {
        let mut violations = Vec::new();
        let place = |file: usize| order.iter().position(|entry| Some(*entry) == self.entry(layer, file));
        for (file, source) in self.sources.iter().enumerate() {
            let Some(entry) = self.entry(layer, file) else { continue };
            let Some(from) = place(file) else {
                violations.push(source.violation(1, format!("`{entry}` is not in the order of `{layer}`")));
                continue;
            };
            for (to, line) in &self.from[file] {
                if place(*to).is_some_and(|to| to < from) {
                    let what = format!("`{layer}/{entry}` names {}, which is not below it", self.sources[*to].file);
                    violations.push(source.violation(*line, what));
                }
            }
        }
        violations
    }

    /// Entries of the order that have no files.
    pub(crate) fn missing(&self, layer: &str, order: &[&'static str]) -> Vec<&'static str> {
        let entries: BTreeSet<_> = (0..self.sources.len()).filter_map(|file| self.entry(layer, file)).collect();
        order.iter().copied().filter(|entry| !entries.contains(entry)).collect()
    }

    /// Number of folders and files at the top of a layer, and of dependencies between them.
    pub(crate) fn count(&self, layer: &str) -> (usize, usize) {
        let entries: BTreeSet<_> = (0..self.sources.len()).filter_map(|file| self.entry(layer, file)).collect();
        let dependencies = self.from.iter().enumerate().flat_map(|(file, named)| {
            named.keys().filter_map(move |to| Some((self.entry(layer, file)?, self.entry(layer, *to)?)))
        });
        let dependencies: BTreeSet<_> = dependencies.filter(|(from, to)| from != to).collect();
        (entries.len(), dependencies.len())
    }

    /// The folder or file at the top of a layer that a file belongs to.
    fn entry(&self, layer: &str, file: usize) -> Option<&str> {
        let below = self.sources[file].file.strip_prefix(layer)?.strip_prefix('/')?;
        below.split(['/', '.']).next()
    }
}
