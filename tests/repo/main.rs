//! Rules of the repository: layers and folders, sizes, and links.

mod default_build;
mod layering;
mod links;
