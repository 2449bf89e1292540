//! Entry of the procedural macro; use the crate `tensorjit`.
//!
//! The crate is thin: it reads what rustc was asked for ([`session`]), hands the user's tokens to the compiler
//! (`tensorjit-core`), takes machine code from the folder of kernels or has it made ([`native`]), and writes the
//! Rust items that call it ([`emit`]).

mod session;
mod half;
mod header;
mod options;
mod store;
mod key;
mod facts;
mod constants;
mod emit;
mod native;
mod imports;
mod report;
mod expand;

/// What `tensorjit::tensor_fn!` calls, with the header that its wrapper adds.
#[proc_macro]
pub fn __expand(tokens: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expansion(tokens)
}

/// What is called at last for a block that imports items of others, with these items.
#[proc_macro]
pub fn __link(tokens: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expansion(tokens)
}

fn expansion(tokens: proc_macro::TokenStream) -> proc_macro::TokenStream {
    match syn::parse::<header::Input>(tokens) {
        Ok(input) => expand::expand(input, &session::Session::current()).into(),
        Err(error) => error.to_compile_error().into(),
    }
}
