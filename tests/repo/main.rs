//! Rules of the repository: layers and folders, sizes, documents.

mod default_build;
mod documents;
mod layering;
mod links;
mod paths;
mod pinned;
mod records;
mod rendering;
