//! Places in the user's text: the only table that knows spans.

use std::ops::Range;

use proc_macro2::Span;

use crate::diag::Origin;

/// What every [`Origin`] of one parse stands for.
///
/// A place is kept as its first and last token, because spans cannot be joined on stable Rust inside a macro.
#[derive(Clone, Debug)]
pub struct Sources {
    places: Vec<(Span, Span)>,
    pinned: Option<Origin>,
    /// Ranges of places that lie in texts of other blocks, each with the import that brought it.
    imported: Vec<(Range<u32>, Origin)>,
}

impl Default for Sources {
    /// A table whose first origin, the default one, is the whole macro call.
    fn default() -> Sources {
        Sources { places: vec![(Span::call_site(), Span::call_site())], pinned: None, imported: Vec::new() }
    }
}

impl Sources {
    /// A table in which every place is `at`: for text that the user cannot see.
    pub fn pinned(at: Origin) -> Sources {
        Sources { pinned: Some(at), ..Sources::default() }
    }

    /// Records the place from token `first` to token `last`.
    pub fn add(&mut self, first: Span, last: Span) -> Origin {
        if let Some(origin) = self.pinned {
            return origin;
        }
        let origin = Origin(self.places.len() as u32);
        self.places.push((first, last));
        origin
    }

    /// The place from the start of `first` to the end of `last`.
    pub fn join(&mut self, first: Origin, last: Origin) -> Origin {
        if first == last {
            return first;
        }
        let ((start, _), (_, end)) = (self.spans(first), self.spans(last));
        self.add(start, end)
    }

    /// What is added from here on lies in the text of another block, which `via` imports.
    pub(super) fn begin_import(&mut self, via: Origin) {
        let next = self.places.len() as u32;
        self.imported.push((next..next, via));
    }

    /// The end of what [`Sources::begin_import`] began.
    pub(super) fn end_import(&mut self) {
        let next = self.places.len() as u32;
        if let Some((range, _)) = self.imported.last_mut() {
            range.end = next;
        }
    }

    /// The import that brought the text in which a place lies, where that is one of another block.
    pub fn import_of(&self, origin: Origin) -> Option<Origin> {
        let found = self.imported.iter().find(|(range, _)| range.contains(&origin.0));
        found.map(|(_, via)| *via)
    }

    /// The first and the last token of a place; the macro call for an origin of another table.
    pub fn spans(&self, origin: Origin) -> (Span, Span) {
        self.places.get(origin.0 as usize).copied().unwrap_or(self.places[0])
    }
}
