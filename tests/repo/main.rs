//! Rules of the repository: layers and folders, sizes, and links.

mod layering;
mod links;
