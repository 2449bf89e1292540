//! Recurrent networks of one direction and one layer.

use super::Node;
use crate::text::{Tensor, Writer, list};

pub(super) fn translate(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    if node.attributes["direction"].as_str() == Some("bidirectional") {
        return None;
    }
    let gates = match node.op {
        "RNN" => 1,
        "GRU" => 3,
        "LSTM" => 4,
        _ => return None,
    };
    let run = Run::new(node, gates, writer)?;
    let call = match node.op {
        "RNN" => {
            let (w, u) = (run.weights(1, &[0], writer)?, run.weights(2, &[0], writer)?);
            format!(
                "rnn({}, {}, {w}, {u}, {}",
                run.steps,
                run.state(5, writer),
                run.bias(&[0], 0..2, writer)?
            )
        }
        "GRU" => {
            // Theirs are update, reset, new.
            let order = [1, 0, 2];
            let (w, u) = (run.weights(1, &order, writer)?, run.weights(2, &order, writer)?);
            let (given, own) = (run.bias(&order, 0..1, writer)?, run.bias(&order, 1..2, writer)?);
            let reset = if node.flag("linear_before_reset") { "after" } else { "before" };
            let state = run.state(5, writer);
            format!("gru({}, {state}, {w}, {u}, {given}, {own}, reset = {reset:?}", run.steps)
        }
        _ => return run.lstm(writer),
    };
    writer.line(format!("let (outs, last) = {call}, reverse = {});", run.reverse));
    Some(vec![run.all(), run.last("last")])
}

/// What the cells have in common.
struct Run<'n> {
    node: &'n Node<'n>,
    gates: usize,
    /// The extents of a state: of the batch, and of what is hidden.
    state: [usize; 2],
    /// The input, its steps first.
    steps: String,
    batch_first: bool,
    reverse: bool,
}

impl<'n> Run<'n> {
    fn new(node: &'n Node<'n>, gates: usize, writer: &mut Writer) -> Option<Run<'n>> {
        let x = node.operand(0)?;
        let batch_first = node.flag("layout");
        let hidden = node.integer("hidden_size")? as usize;
        let batch = x.shape[usize::from(!batch_first)];
        let steps = if batch_first {
            writer.bind(&format!("permute({}, (1, 0, 2))", x.text))
        } else {
            x.text.clone()
        };
        let reverse = node.attributes["direction"].as_str() == Some("reverse");
        Some(Run { node, gates, state: [batch, hidden], steps, batch_first, reverse })
    }

    /// The weights of the gates in our order, the way a product from the left wants them.
    fn weights(&self, i: usize, order: &[usize], writer: &mut Writer) -> Option<String> {
        let matrix = writer.bind(&format!("transpose({}[0])", self.node.text(i)?));
        Some(self.ordered(&matrix, order, writer))
    }

    fn ordered(&self, x: &str, order: &[usize], writer: &mut Writer) -> String {
        if order.windows(2).all(|pair| pair[0] < pair[1]) {
            return x.to_owned();
        }
        let hidden = writer.extent(self.state[1]);
        let parts = order.iter().map(|gate| format!("{x}[.., {gate} * {hidden}..{} * {hidden}]", gate + 1));
        writer.bind(&format!("concat({}, axis = -1)", list(parts)))
    }

    /// The sum of the biases of the input, of the state, or of both.
    fn bias(&self, order: &[usize], which: std::ops::Range<usize>, writer: &mut Writer) -> Option<String> {
        let Some(bias) = self.node.text(3) else { return Some("0".to_owned()) };
        let all = self.gates * self.state[1];
        let parts: Vec<String> =
            which.map(|i| format!("{bias}[0, {}..{}]", i * all, (i + 1) * all)).collect();
        let sum = writer.bind(&parts.join(" + "));
        Some(self.ordered(&sum, order, writer))
    }

    /// A state to begin with.
    fn state(&self, i: usize, writer: &mut Writer) -> String {
        match self.node.text(i) {
            Some(first) if self.batch_first => format!("{first}[.., 0, ..]"),
            Some(first) => format!("{first}[0]"),
            None => {
                let dtype = self.node.operand(0).map_or("f32", |x: &Tensor| x.dtype.name());
                let zeros = format!("zeros({}, dtype = {dtype})", writer.shape(&self.state));
                writer.bind(&zeros)
            }
        }
    }

    /// All states, with an axis of directions.
    fn all(&self) -> String {
        match self.batch_first {
            true => "expand_dims(permute(outs, (1, 0, 2)), axis = 2)".to_owned(),
            false => "expand_dims(outs, axis = 1)".to_owned(),
        }
    }

    /// The last state, with an axis of directions.
    fn last(&self, name: &str) -> String {
        format!("expand_dims({name}, axis = {})", usize::from(self.batch_first))
    }

    fn lstm(&self, writer: &mut Writer) -> Option<Vec<String>> {
        // Theirs are input, output, forget, cell.
        let order = [0, 2, 3, 1];
        let (h, c) = (self.state(5, writer), self.state(6, writer));
        let (w, u) = (self.weights(1, &order, writer)?, self.weights(2, &order, writer)?);
        let bias = self.bias(&order, 0..2, writer)?;
        let (steps, reverse) = (&self.steps, self.reverse);
        match self.node.text(7) {
            None => writer.line(format!(
                "let (outs, last, cell) = lstm({steps}, {h}, {c}, {w}, {u}, {bias}, reverse = {reverse});"
            )),
            Some(peep) => {
                // The gates also see the cell, each by a weight of its own: input, output, forget.
                let hidden = self.state[1];
                let part = |gate: usize| format!("{peep}[0, {}..{}]", gate * hidden, (gate + 1) * hidden);
                let gate = |i: usize| format!("gates[.., {}..{}]", i * hidden, (i + 1) * hidden);
                writer.line(format!("let ((last, cell), outs) = scan(({h}, {c}), {steps}, |(h, c), x| {{"));
                writer.line(format!("    let gates = x @ {w} + h @ {u} + {bias};"));
                writer.line(format!("    let keep = sigmoid({} + {} * c);", gate(1), part(2)));
                writer.line(format!("    let open = sigmoid({} + {} * c);", gate(0), part(0)));
                writer.line(format!("    let next = keep * c + open * tanh({});", gate(2)));
                writer.line(format!("    let h = sigmoid({} + {} * next) * tanh(next);", gate(3), part(1)));
                writer.line(format!("    ((h, next), h) }}, reverse = {reverse});"));
            }
        }
        Some(vec![self.all(), self.last("last"), self.last("cell")])
    }
}
