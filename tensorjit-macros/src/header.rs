//! What the wrapper macro of the face hands over before the user's tokens.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, parenthesized};

/// `($crate "triple" "features")`, then the user's tokens.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// The path of the face: `$crate` of its wrapper.
    pub(crate) face: TokenStream,
    /// The target triple of the build.
    pub(crate) triple: String,
    /// The target features that the build promises, as rustc names them.
    pub(crate) features: Vec<String>,
    /// What the user wrote.
    pub(crate) user: TokenStream,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Input> {
        let header;
        parenthesized!(header in input);
        let face = header.call(syn::Path::parse_mod_style)?;
        let triple: LitStr = header.parse()?;
        let features: LitStr = header.parse()?;
        Ok(Input {
            face: quote::ToTokens::into_token_stream(face),
            triple: triple.value(),
            features: features.value().split(',').map(str::to_owned).collect(),
            user: input.parse()?,
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
    }
}
