//! Help for a search. Who helps, and whose turn it is, another floor knows.

use std::fmt::Debug;

/// Others who may help a search while nobody else needs them.
///
/// What a search finds, and what it counts, does not depend on how much help it gets.
pub trait Crew: Debug + Sync {
    /// Does the main work here and now. Whenever it asks for help, and somebody is free, `help` is
    /// done beside it, until there is nothing left to do or its own question is answered with yes:
    /// whether somebody else needs them. Comes back when all have ended.
    fn work(&self, main: MainWork<'_>, help: &Help<'_>);

    /// Asked by the search now and then: waits here while it is somebody else's turn.
    fn pause(&self) {}
}

/// Work that may ask for help.
pub type MainWork<'w> = &'w mut dyn FnMut(&dyn Fn());

/// Work of those who help, who ask now and then whether somebody else needs them.
pub type Help<'w> = dyn Fn(&dyn Fn() -> bool) + Sync + 'w;
