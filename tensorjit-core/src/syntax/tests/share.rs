//! Blocks that import from each other: what a block with imports says is what one block with all items says.

use proc_macro2::TokenStream;

use super::super::share::offers;
use super::super::{Parsed, parse};
use crate::check::{CheckedBlock, Layout, check_block};

fn parsed(text: &str, parcels: &[&TokenStream]) -> Parsed {
    parse(text.parse().unwrap(), parcels.iter().map(|parcel| (*parcel).clone()).collect())
}

/// The parcel of an item of a block.
fn parcel(text: &str, parcels: &[&TokenStream], id: &str, name: &str) -> TokenStream {
    let block = parsed(text, parcels);
    assert!(block.diagnostics.is_empty(), "{:?}", block.diagnostics);
    let found = offers(&block.block, id, true).into_iter().find(|offer| offer.name.text == name);
    found.unwrap_or_else(|| panic!("{name} is not offered")).parcel
}

fn checked(text: &str, parcels: &[&TokenStream]) -> CheckedBlock {
    let block = parsed(text, parcels);
    assert!(block.diagnostics.is_empty() && block.sound, "{:?}", block.diagnostics);
    check_block(&block.block).unwrap_or_else(|failure| panic!("{failure:?}"))
}

/// The graphs of the public functions.
fn graphs(text: &str, parcels: &[&TokenStream]) -> Vec<String> {
    checked(text, parcels).functions.iter().map(|function| function.graph.to_string()).collect()
}

fn messages(text: &str, parcels: &[&TokenStream]) -> Vec<String> {
    let block = parsed(text, parcels);
    let found = match block.diagnostics.is_empty() {
        true => match check_block(&block.block) {
            Err(crate::diag::Failure::User(found)) => found,
            other => panic!("{other:?}"),
        },
        false => block.diagnostics,
    };
    found.into_iter().map(|found| found.message).collect()
}

const LAYERS: &str = "
    const BASE: f32 = 3; const SLOPE: f32 = 0.5 * BASE; const UNUSED: f32 = 1;
    pub struct Layer<N> { w: f32[N, N] }
    fn activate<T: float, ..S>(x: T[..S], slope: T) -> T[..S] { maximum(x, slope * x) }
    pub fn layer<N>(x: f32[N], layer: Layer<N>) -> f32[N] { activate(layer.w @ x, SLOPE) }";

fn layers(name: &str) -> TokenStream {
    parcel(LAYERS, &[], "layers", name)
}

#[test]
fn a_parcel_holds_what_an_item_needs_and_no_more() {
    let text = layers("layer").to_string();
    for part in ["BASE", "SLOPE", "activate", "struct Layer"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("UNUSED"), "{text}");
    assert!(!layers("Layer").to_string().contains("SLOPE"));
}

#[test]
fn names_mean_what_they_mean_in_their_own_block() {
    let (layer, declared) = (layers("layer"), layers("Layer"));
    let here = "
        use a::{layer as f, Layer as L};
        const SLOPE: f32 = 7; fn activate(x: f32) -> f32 { 0 * x } struct Layer<N> { b: f32[N] }
        pub fn g<N>(x: f32[N], l: L<N>) -> f32[N] { SLOPE * f(f(x, l), l) }";
    let whole = "
        pub struct L<N> { w: f32[N, N] }
        fn f<N>(x: f32[N], layer: L<N>) -> f32[N] { let y = layer.w @ x; maximum(y, 0.5 * 3 * y) }
        pub fn g<N>(x: f32[N], l: L<N>) -> f32[N] { 7 * f(f(x, l), l) }";
    assert_eq!(graphs(here, &[&layer, &declared]), graphs(whole, &[]));
}

#[test]
fn imports_of_imports_come_along_and_are_the_same_items() {
    let (layer, declared) = (layers("layer"), layers("Layer"));
    let middle = "
        use a::{layer, Layer};
        pub struct Pair<N> { first: Layer<N>, second: Layer<N> }
        pub fn pair<N>(x: f32[N], pair: Pair<N>) -> f32[N] { layer(layer(x, pair.first), pair.second) }";
    let (pair, pairs) = (
        parcel(middle, &[&layer, &declared], "middle", "pair"),
        parcel(middle, &[&layer, &declared], "middle", "Pair"),
    );
    // Three routes lead to `Layer`, and it is one type.
    let here = "
        use m::{pair, Pair as Two}; use a::Layer;
        pub fn g<N>(x: f32[N], l: Layer<N>) -> f32[N] { pair(x, Two { first: l, second: l }) }";
    let parcels = [&pair, &pairs, &declared];
    let direct = "
        use a::{layer, Layer};
        pub fn g<N>(x: f32[N], l: Layer<N>) -> f32[N] { layer(layer(x, l), l) }";
    assert_eq!(graphs(here, &parcels), graphs(direct, &[&layer, &declared]));
    let block = parsed(here, &parcels).block;
    assert_eq!(
        block.modules.iter().map(|module| module.id.as_str()).collect::<Vec<_>>(),
        ["layers", "middle"]
    );
    let Layout::Struct(layout) = &checked(here, &parcels).functions[0].arguments[1].layout else { panic!() };
    assert_eq!(layout.name, "layers/Layer");
}

#[test]
fn structs_of_one_name_of_two_blocks_are_two_types() {
    let (layer, other) =
        (layers("layer"), parcel("pub struct Layer<N> { w: f32[N, N] }", &[], "other", "Layer"));
    let here = "use a::layer; use b::Layer; pub fn g<N>(x: f32[N], l: Layer<N>) -> f32[N] { layer(x, l) }";
    assert_eq!(messages(here, &[&layer, &other]), ["`layer` of `layer` is Layer<N>, this is Layer<N>"]);
}

#[test]
fn what_cannot_be_imported_is_refused_where_it_is_imported() {
    let private = layers("activate");
    assert_eq!(messages("use a::activate; fn f() {}", &[&private]), ["`activate` is private to its block"]);
    let foreign: TokenStream = "\"0.0.0\" item \"f\" \"a\"".parse().unwrap();
    assert!(messages("use a::f;", &[&foreign])[0].starts_with("`f` was made by another version"));
    assert_eq!(
        messages("use a::layer; fn layer(x: f32) -> f32 { x }", &[&layers("layer")]),
        ["`layer` is defined twice in this block"]
    );
}

#[test]
fn a_block_with_errors_makes_no_others() {
    let block = parsed("pub fn f(x: f32) -> f32 { y }", &[]).block;
    let offered = offers(&block, "a", false);
    let importer = parsed("use a::f; pub fn g(x: f32) -> f32 { f(x) }", &[&offered[0].parcel]);
    assert!(importer.diagnostics.is_empty() && !importer.sound);
}

#[test]
fn places_in_other_blocks_are_known() {
    let block = parsed("use a::layer;", &[&layers("layer")]);
    let module = &block.block.modules[0];
    let used = &block.block.uses[0];
    assert!(module.items.iter().all(|item| block.sources.import_of(item.name().at) == Some(used.item.at)));
    assert_eq!(block.sources.import_of(used.item.at), None);
}

/// An error that only a call of this block makes is at what was imported, and says which call.
#[test]
fn errors_in_other_blocks_say_which_call_leads_there() {
    let broken = parsed("fn g(x: f32) -> f32 { sin(x, x) } pub fn f(x: f32) -> f32 { g(x) }", &[]).block;
    let offered = offers(&broken, "a", true).into_iter().find(|offer| offer.name.text == "f").unwrap();
    let block =
        parsed("use a::f; fn h(x: f32) -> f32 { f(x) } pub fn k(x: f32) -> f32 { h(x) }", &[&offered.parcel]);
    let Err(crate::diag::Failure::User(found)) = check_block(&block.block) else { panic!("it is refused") };
    let [error] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(block.sources.import_of(error.at), Some(block.block.uses[0].item.at));
    let [.., (call, label)] = error.labels.as_slice() else { panic!("{error:?}") };
    assert_eq!((block.sources.import_of(*call), label.as_str()), (None, "in this call"));
}
