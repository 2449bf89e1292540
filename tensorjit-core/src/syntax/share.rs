//! Items that other blocks import: how they are handed on, and how they are taken in.
//!
//! A parcel carries one item of a block and all that it needs, by text: items of its own block that the world cannot
//! name, and items that its block has imported. Every block keeps its names to itself, so that a parcel is a list of
//! blocks in part, those first that others need. Items of one block that come in several parcels are the same items.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};

use super::ast::{Block, Ident, Import, Item, Module, Text, Use, plain_name};
use super::parser::Parser;
use super::sources::Sources;
use super::tokens;
use crate::diag::{Diagnostic, Origin};

/// The form of parcels; those of another one cannot be read.
const FORM: &str = env!("CARGO_PKG_VERSION");

/// An item as its block offers it to others.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Its name.
    pub name: Ident,
    /// Who may import it, as written; empty for an item that is private to its block.
    pub visibility: TokenStream,
    /// Attributes of the item, as written.
    pub attributes: Vec<TokenStream>,
    /// The parcel.
    pub parcel: TokenStream,
}

/// All items of a block as others may import them.
///
/// `id` names the block: no other one has it. Items of a block with errors are offered empty, so that those who
/// import them make no errors of their own.
pub fn offers(block: &Block, id: &str, sound: bool) -> Vec<Offer> {
    let parts = parts(block, id);
    let mut seen = BTreeSet::new();
    let items = block.items.iter().enumerate().filter(|(_, item)| seen.insert(&item.name().text));
    let offer = |(index, item): (usize, &Item)| {
        let form = text(FORM);
        let name = text(&item.name().text);
        let parcel: TokenStream = match (item.public(), sound) {
            (false, _) => [form, word("private"), name].into_iter().collect(),
            (true, false) => [form, word("broken"), name].into_iter().collect(),
            (true, true) => {
                let id_of_home = text(id);
                let head = [form, word("item"), name, id_of_home];
                head.into_iter().chain(pack(&parts, index)).collect()
            }
        };
        Offer {
            name: item.name().clone(),
            visibility: item.visibility().clone(),
            attributes: item.attributes().to_vec(),
            parcel,
        }
    };
    items.map(offer).collect()
}

fn text(text: &str) -> TokenTree {
    TokenTree::Literal(Literal::string(text))
}

fn word(text: &str) -> TokenTree {
    TokenTree::Ident(proc_macro2::Ident::new(text, proc_macro2::Span::call_site()))
}

/// A block, or the block whose items are packed, as it is packed.
struct Part<'p> {
    id: &'p str,
    texts: &'p [Text],
    /// Where its items stand.
    items: BTreeMap<&'p str, usize>,
    /// What it imports: the part, and the item's name there.
    imports: BTreeMap<&'p str, (usize, &'p str)>,
}

impl<'p> Part<'p> {
    fn new(id: &'p str, items: &'p [Item], texts: &'p [Text]) -> Part<'p> {
        let named = items.iter().enumerate().map(|(index, item)| (plain_name(&item.name().text), index));
        Part { id, texts, items: named.rev().collect(), imports: BTreeMap::new() }
    }
}

/// The modules in order, and the block itself after them.
fn parts<'p>(block: &'p Block, id: &'p str) -> Vec<Part<'p>> {
    let modules = block.modules.iter().map(|module| {
        let imports = module.imports.iter();
        let imports =
            imports.map(|(name, import)| (name.as_str(), (import.module, plain_name(&import.item))));
        Part { imports: imports.collect(), ..Part::new(&module.id, &module.items, &module.texts) }
    });
    let mut parts: Vec<Part<'p>> = modules.collect();
    let imports = block.uses.iter().filter_map(|used| {
        let import = used.home.as_ref()?;
        Some((used.name.text.as_str(), (import.module, plain_name(&import.item))))
    });
    parts.push(Part { imports: imports.collect(), ..Part::new(id, &block.items, &block.texts) });
    parts
}

/// An item of the last part with all that it needs: one group for each part.
fn pack(parts: &[Part<'_>], item: usize) -> Vec<TokenTree> {
    let mut taken = vec![BTreeSet::new(); parts.len()];
    let mut imports: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); parts.len()];
    let mut open = vec![(parts.len() - 1, item)];
    while let Some((index, item)) = open.pop() {
        let part = &parts[index];
        if !taken[index].insert(item) {
            continue;
        }
        for word in part.texts.get(item).into_iter().flat_map(|text| &text.words) {
            if let Some(found) = part.items.get(word.as_str()) {
                open.push((index, *found));
            } else if let Some((home, name)) = part.imports.get(word.as_str()) {
                imports[index].insert(word);
                open.extend(parts[*home].items.get(name).map(|found| (*home, *found)));
            }
        }
    }
    let groups = parts.iter().zip(taken).zip(imports).filter(|((_, taken), _)| !taken.is_empty());
    let group = |((part, taken), imports): ((&Part<'_>, BTreeSet<usize>), BTreeSet<&str>)| {
        let names = imports.iter().filter_map(|name| Some((name, part.imports.get(name)?)));
        let imports = names.flat_map(|(name, (home, item))| [text(name), text(parts[*home].id), text(item)]);
        let items =
            taken.iter().filter_map(|item| part.texts.get(*item)).flat_map(|text| text.tokens.clone());
        let parts = [
            text(part.id),
            TokenTree::Group(Group::new(Delimiter::Bracket, imports.collect())),
            TokenTree::Group(Group::new(Delimiter::Brace, items.collect())),
        ];
        TokenTree::Group(Group::new(Delimiter::Brace, parts.into_iter().collect()))
    };
    groups.map(group).collect()
}

/// What a parcel turned out to hold.
enum Parcel {
    /// The item of that name in that module.
    Item(Import),
    /// An item that is private to its block.
    Private,
    /// An item of a block with errors.
    Broken,
    /// Of another version.
    Foreign,
}

/// Takes the parcels of the imports of a block, in their order; those that cannot be taken are no imports
/// any more.  Whether all of them were sound: otherwise the block
/// cannot be checked, but for errors elsewhere there is none to report.
pub(super) fn take_in(
    block: &mut Block,
    parcels: Vec<TokenStream>,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> bool {
    let mut sound = true;
    let mut known = BTreeMap::new();
    let uses = std::mem::take(&mut block.uses);
    let fetched = !parcels.is_empty();
    let mut parcels = parcels.into_iter();
    for used in uses {
        let Some(parcel) = parcels.next() else {
            // Without any parcel the block has not come so far as to ask for them.
            block.uses.extend((!fetched).then_some(used));
            continue;
        };
        let via = used.item.at;
        let name = &used.item.text;
        match parcel_of(parcel, via, &mut known, &mut block.modules, sources) {
            Parcel::Item(import) => block.uses.push(Use { home: Some(import), ..used }),
            Parcel::Broken => {
                sound = false;
                block.uses.push(used);
            }
            Parcel::Private => {
                let message = format!("`{name}` is private to its block");
                let problem = Diagnostic::new("import", message, via);
                problems.push(problem.help(format!("write `pub` before `{name}` there")));
            }
            Parcel::Foreign => {
                let message = format!("`{name}` was made by another version of tensorjit than {FORM}");
                let problem = Diagnostic::new("import", message, via);
                problems.push(problem.help("build both crates with one version"));
            }
        }
    }
    sound
}

/// Reads one parcel; its modules join those that are known by their ids.
fn parcel_of(
    parcel: TokenStream,
    via: Origin,
    known: &mut BTreeMap<String, usize>,
    modules: &mut Vec<Module>,
    sources: &mut Sources,
) -> Parcel {
    let mut trees = parcel.into_iter();
    if literal(trees.next()).as_deref() != Some(FORM) {
        return Parcel::Foreign;
    }
    match trees.next() {
        Some(TokenTree::Ident(word)) if word == "private" => return Parcel::Private,
        Some(TokenTree::Ident(word)) if word == "item" => {}
        _ => return Parcel::Broken,
    }
    let (Some(item), Some(home)) = (literal(trees.next()), literal(trees.next())) else {
        return Parcel::Foreign;
    };
    sources.begin_import(via);
    let read = trees.try_for_each(|tree| module_of(tree, known, modules, sources));
    sources.end_import();
    match (read, known.get(&home)) {
        (Some(()), Some(module)) => Parcel::Item(Import { module: *module, item: format!("{home}/{item}") }),
        _ => Parcel::Foreign,
    }
}

/// Reads a block in part.
fn module_of(
    tree: TokenTree,
    known: &mut BTreeMap<String, usize>,
    modules: &mut Vec<Module>,
    sources: &mut Sources,
) -> Option<()> {
    let mut parts = inside(tree)?.into_iter();
    let (id, imports, items) = (literal(parts.next())?, inside(parts.next()?)?, inside(parts.next()?)?);
    let index = *known.entry(id.clone()).or_insert(modules.len());
    if index == modules.len() {
        modules.push(Module { id, ..Module::default() });
    }
    let mut imports = imports.into_iter();
    while let Some(name) = imports.next() {
        let (name, home, item) = (literal(Some(name))?, literal(imports.next())?, literal(imports.next())?);
        // A block comes after those that it imports from.
        let import = Import { module: *known.get(&home)?, item: format!("{home}/{item}") };
        modules[index].imports.insert(name, import);
    }
    let parsed = parse_items(items, sources)?;
    let module = &mut modules[index];
    for (mut item, text) in parsed.items.into_iter().zip(parsed.texts) {
        item.qualify(&module.id);
        if !module.items.iter().any(|known| known.name().text == item.name().text) {
            module.items.push(item);
            module.texts.push(text);
        }
    }
    Some(())
}

fn parse_items(items: TokenStream, sources: &mut Sources) -> Option<Block> {
    let row = tokens::flatten(items.into_iter().collect()).ok()?;
    let mut parser = Parser::new(row, std::mem::take(sources));
    let block = parser.block();
    let (returned, problems) = parser.finish();
    *sources = returned;
    problems.is_empty().then_some(block)
}

fn inside(tree: TokenTree) -> Option<TokenStream> {
    match tree {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    }
}

/// The text of a string literal that [`text`] made.
fn literal(tree: Option<TokenTree>) -> Option<String> {
    match tree? {
        TokenTree::Literal(literal) => {
            syn::parse_str::<syn::LitStr>(&literal.to_string()).ok().map(|literal| literal.value())
        }
        // A token that has passed through a macro may be in invisible brackets.
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            literal(group.stream().into_iter().next())
        }
        _ => None,
    }
}
