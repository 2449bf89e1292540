//! Functions whose option chooses among functions of the prelude.

use super::super::call::Call;
use super::super::report::{Checked, listed};
use super::super::scope::Checker;
use super::super::value::Value;
use crate::diag::Bug;

/// The values of an option, each with the function of the prelude that it means; the first is the default.
type Choices = &'static [(&'static str, &'static str)];

/// `gelu(x, approximate)`: by the error function, or by the hyperbolic tangent.
pub(in super::super) fn gelu(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let choices: Choices =
        &[("none", "gelu_erf"), ("tanh", "gelu_tanh"), ("false", "gelu_erf"), ("true", "gelu_tanh")];
    choose(checker, call, "approximate", choices)
}

/// `mse(prediction, target, reduction)`.
pub(in super::super) fn mse(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    choose(checker, call, "reduction", &[("mean", "mse_mean"), ("sum", "mse_sum"), ("none", "mse_none")])
}

/// `cross_entropy(logits, labels, reduction)`.
pub(in super::super) fn cross_entropy(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let choices: Choices =
        &[("mean", "cross_entropy_mean"), ("sum", "cross_entropy_sum"), ("none", "cross_entropy_none")];
    choose(checker, call, "reduction", choices)
}

/// The last argument chooses, the others are passed on.
fn choose(checker: &mut Checker<'_>, call: &Call<'_>, option: &str, choices: Choices) -> Checked<Value> {
    let Some((choice, args)) = call.args.split_last() else {
        return Err(Bug::new("check", format!("`{}` has no option", call.name)).into());
    };
    let chosen = match choice {
        None => choices.first(),
        Some(arg) => {
            let text = match &arg.value {
                Value::Text(text) => text.clone(),
                Value::Bool(value) => value.to_string(),
                _ => String::new(),
            };
            let found = choices.iter().find(|(value, _)| *value == text);
            if found.is_none() {
                let legal =
                    choices.iter().map(|(value, _)| *value).filter(|v| !matches!(*v, "true" | "false"));
                let quoted: Vec<String> = legal.map(|value| format!("\"{value}\"")).collect();
                let legal = listed(quoted.iter().map(String::as_str));
                let message = format!("`{option}` of `{}` is one of {legal}", call.name);
                return checker.fail("option-value", arg.expr.span, message);
            }
            found
        }
    };
    let name = chosen.map_or("", |(_, name)| *name);
    let Some(function) = checker.items.prelude.function(name)? else {
        return Err(Bug::new("check", format!("the prelude lacks `{name}`")).into());
    };
    let inner = Call { name: call.name, at: call.at, args: args.to_vec() };
    checker.inline(&function, &inner, call.at, true)
}
