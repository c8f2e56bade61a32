//! Enumerations whose values have names.

/// An enumeration whose values have names.
pub trait Named: Copy + PartialEq + 'static {
    /// Every value, in display order.
    const ALL: &'static [Self];

    /// The name, in snake case.
    fn name(self) -> &'static str;

    /// The value with this name, if any.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.name() == name)
    }
}

/// Implements [`Named`] for an enum: each variant with its name.
#[macro_export]
macro_rules! named {
    ($type:ty { $($variant:ident => $name:literal),* $(,)? }) => {
        impl $crate::Named for $type {
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}
