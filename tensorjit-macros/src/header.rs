//! What the macros of the face hand over beside the user's tokens.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{LitStr, braced, bracketed, parenthesized};

/// `($crate "triple" "features")`, then the user's tokens; of a block with imports, `[] ($crate "triple" "features")`,
/// the user's tokens in braces, and each parcel in braces.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// The inside of the first parentheses, to be handed on.
    pub(crate) header: TokenStream,
    /// The path of the face: `$crate` of its wrapper.
    pub(crate) face: TokenStream,
    /// The target triple of the build.
    pub(crate) triple: String,
    /// The target features that the build promises, as rustc names them.
    pub(crate) features: Vec<String>,
    /// What the user wrote.
    pub(crate) user: TokenStream,
    /// What the block imports, once it has been fetched.
    pub(crate) parcels: Option<Vec<TokenStream>>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Input> {
        if !input.peek(syn::token::Bracket) {
            let inside;
            parenthesized!(inside in input);
            let (header, user) = (inside.parse()?, input.parse()?);
            return Input::new(header, user, None);
        }
        let (served, inside, user);
        bracketed!(served in input);
        parenthesized!(inside in input);
        braced!(user in input);
        let (_, header, user) = (served.parse::<TokenStream>()?, inside.parse()?, user.parse()?);
        let mut parcels = Vec::new();
        while !input.is_empty() {
            let parcel;
            braced!(parcel in input);
            parcels.push(parcel.parse()?);
        }
        Input::new(header, user, Some(parcels))
    }
}

impl Input {
    fn new(header: TokenStream, user: TokenStream, parcels: Option<Vec<TokenStream>>) -> syn::Result<Input> {
        let read = |header: ParseStream<'_>| {
            let face = header.call(syn::Path::parse_mod_style)?;
            Ok((
                quote::ToTokens::into_token_stream(face),
                header.parse::<LitStr>()?,
                header.parse::<LitStr>()?,
            ))
        };
        let (face, triple, features) = read.parse2(header.clone())?;
        Ok(Input {
            header,
            face,
            triple: triple.value(),
            features: features.value().split(',').map(str::to_owned).collect(),
            user,
            parcels,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Input;

    #[test]
    fn the_header_is_taken_off() {
        let input: Input =
            syn::parse_str(r#"(::a::b "x86_64-unknown-linux-gnu" "sse,fxsr") fn f(x: f32) {}"#).unwrap();
        assert_eq!(input.face.to_string(), ":: a :: b");
        assert_eq!(input.triple, "x86_64-unknown-linux-gnu");
        assert_eq!(input.features, ["sse", "fxsr"]);
        assert_eq!(input.user.to_string(), "fn f (x : f32) { }");
        assert!(input.parcels.is_none());
    }

    #[test]
    fn parcels_are_told_from_the_users_tokens() {
        let input: Input = syn::parse_str(r#"[] (a "x" "sse") { fn f() {} } { 1 } { 2 }"#).unwrap();
        assert_eq!(input.header.to_string(), r#"a "x" "sse""#);
        assert_eq!(input.user.to_string(), "fn f () { }");
        let parcels: Vec<String> = input.parcels.unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(parcels, ["1", "2"]);
    }
}
