//! The one way into compiled code.
//!
//! The code that the macro emits describes its arguments and calls these functions; they are public for it and
//! for tests that bring their own [`Function`].

use crate::abi::{Entry, Function, Role};
use crate::arg::ArgView;
use crate::bind;
use crate::check;
use crate::dims::eval;
use crate::error::Result;
use crate::fault::{Context, Fault};
use crate::host::HOST;
use crate::level;
use crate::outputs::Output;
use crate::stack::Stack;
use crate::strided::Direction;
use crate::workspace::{ALIGN, Workspace, with_idle};

/// Calls `function` with all its parameters, results among them, in the order of [`Function::params`].
///
/// `given` holds the value of every symbol, or is `None` where they follow from the arguments.  Without
/// `workspace` the call uses one of its thread's.
///
/// # Errors
///
/// All of [`crate::ErrorKind`]; then no buffer has been touched.
///
/// # Safety
///
/// The entries of `function` read and write what its description says and nothing else. There is one view for
/// each of its parameters, with its element type and rank, and exclusive access where its role is not to be read.
pub unsafe fn call(
    function: &'static Function,
    args: &[ArgView<'_>],
    given: Option<&[usize]>,
    workspace: Option<&mut Workspace>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { call_with(function, args, given, &mut [], workspace) }
}

/// Calls `function` with all its parameters but the results, for which it allocates memory.
///
/// # Errors
///
/// All of [`crate::ErrorKind`]; then no buffer has been touched.
///
/// # Safety
///
/// That of [`call`], where `outputs` stand for the last parameters of `function`, which are its results.
pub unsafe fn call_new(
    function: &'static Function,
    args: &[ArgView<'_>],
    given: Option<&[usize]>,
    outputs: &mut [Output],
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { call_with(function, args, given, outputs, None) }
}

/// The bytes of workspace that a call with these dimensions takes, for arguments that are dense.
///
/// # Errors
///
/// As a call with them: bounds, conditions, overflow.
pub fn workspace_bytes(function: &'static Function, given: &[usize]) -> Result<usize> {
    let mut symbols = unknown(function, true)?;
    let bytes = bind::take_given(function, given, &mut symbols)
        .and_then(|()| check::conditions(function, &symbols))
        .and_then(|()| check::sizes(function, &symbols))
        .and_then(|()| arena_bytes(function, &symbols));
    bytes.map_err(|fault| Context { function, symbols: &symbols, given: true }.explain(fault))
}

/// Room for the symbols.
#[inline]
fn unknown(function: &'static Function, given: bool) -> Result<bind::Symbols> {
    bind::unknown(function).map_err(|fault| Context { function, symbols: &[], given }.explain(fault))
}

/// # Safety
///
/// That of [`call`] and [`call_new`].
unsafe fn call_with(
    function: &'static Function,
    args: &[ArgView<'_>],
    given: Option<&[usize]>,
    outputs: &mut [Output],
    workspace: Option<&mut Workspace>,
) -> Result<()> {
    let mut symbols = unknown(function, given.is_some())?;
    let symbols: &mut [i64] = &mut symbols;
    // SAFETY: the caller's promise.
    match unsafe { attempt(function, args, given, symbols, outputs, workspace) } {
        Ok(()) => Ok(()),
        Err(fault) => Err(Context { function, symbols, given: given.is_some() }.explain(fault)),
    }
}

/// # Safety
///
/// That of [`call`] and [`call_new`].
unsafe fn attempt(
    function: &'static Function,
    args: &[ArgView<'_>],
    given: Option<&[usize]>,
    symbols: &mut [i64],
    outputs: &mut [Output],
    workspace: Option<&mut Workspace>,
) -> Result<(), Fault> {
    match given {
        Some(given) => bind::take_given(function, given, symbols)?,
        None => bind::solve(function, args, symbols),
    }
    let staging = check::check(function, args, symbols, given.is_some())?;
    let entry = level::pick(function).ok_or(Fault::Level)?.entry;
    for (position, output) in outputs.iter_mut().enumerate() {
        let index = args.len() + position;
        if let Some(param) = function.params.get(index) {
            output.allocate(index, param, symbols)?;
        }
    }
    let arena = arena_bytes(function, symbols)?;
    let bytes = arena.checked_add(staging).ok_or(Fault::WorkspaceOverflow)?;
    let mut launch = Launch { function, entry, args, symbols, outputs, arena, staged: staging > 0 };
    match workspace {
        // SAFETY: the caller's promise, and all checks have passed.
        Some(workspace) => unsafe { launch.within(workspace, bytes) },
        None if bytes == 0 => {
            // SAFETY: as above.
            unsafe { launch.within(&mut Workspace::new(), 0) }
        }
        None => with_idle(|workspace| {
            // SAFETY: as above.
            unsafe { launch.within(workspace, bytes) }
        }),
    }
}

/// The kernels' own workspace, rounded up so that what follows is aligned.
fn arena_bytes(function: &Function, symbols: &[i64]) -> Result<usize, Fault> {
    let bytes = eval(&function.workspace, symbols).ok().and_then(|bytes| usize::try_from(bytes).ok());
    bytes.and_then(|bytes| bytes.checked_next_multiple_of(ALIGN)).ok_or(Fault::WorkspaceOverflow)
}

/// Bytes of a dense copy, rounded up so that what follows is aligned.
fn dense_bytes(arg: &ArgView<'_>) -> Option<usize> {
    (arg.len()? * arg.dtype.size()).checked_next_multiple_of(ALIGN)
}

/// A call that has passed its checks.
struct Launch<'c, 'a> {
    function: &'static Function,
    entry: Entry,
    args: &'c [ArgView<'a>],
    symbols: &'c [i64],
    outputs: &'c mut [Output],
    /// Where staged arguments begin in the workspace.
    arena: usize,
    /// Whether there are any.
    staged: bool,
}

impl Launch<'_, '_> {
    /// Reserves memory, and runs.
    ///
    /// # Safety
    ///
    /// The checks have passed, `bytes` covers arena and staged arguments, and the promise of [`call`] holds.
    unsafe fn within(&mut self, workspace: &mut Workspace, bytes: usize) -> Result<(), Fault> {
        let memory = workspace.reserve(bytes).ok_or(Fault::Memory { bytes })?;
        let mut addresses: Stack<*mut u8, 32> =
            Stack::filled(std::ptr::null_mut(), self.function.params.len())
                .map_err(|bytes| Fault::Memory { bytes })?;
        // SAFETY: the caller's promise; the memory was just reserved.
        unsafe { self.run(memory, &mut addresses) };
        Ok(())
    }

    /// # Safety
    ///
    /// That of [`Launch::within`], `memory` has the bytes that it names, and there are as many `addresses` as
    /// parameters.
    unsafe fn run(&mut self, memory: *mut u8, addresses: &mut [*mut u8]) {
        let Launch { function, entry, args, symbols, staged, .. } = *self;
        let mut next = memory.wrapping_add(self.arena);
        for (address, (arg, param)) in addresses.iter_mut().zip(args.iter().zip(function.params)) {
            *address = arg.data;
            if staged && !arg.is_dense() {
                *address = next;
                next = next.wrapping_add(dense_bytes(arg).unwrap_or(0));
                if param.role != Role::Output {
                    // SAFETY: the argument is live and initialised; its copy has room in the workspace.
                    unsafe { arg.copy(*address, Direction::Gather) };
                }
            }
        }
        for (address, output) in addresses.iter_mut().skip(args.len()).zip(self.outputs.iter_mut()) {
            *address = output.address();
        }
        // SAFETY: every parameter has the address of dense elements of its shape, the symbols are those of the
        // shapes, the workspace has the size that the function asked for, and the checks it relies on have passed.
        unsafe { entry(addresses.as_ptr(), symbols.as_ptr(), memory, &HOST) };
        if staged {
            for (address, (arg, param)) in addresses.iter().zip(args.iter().zip(function.params)) {
                if param.role != Role::Input && !arg.is_dense() {
                    // SAFETY: the caller has exclusive access to it; the kernel has initialised the copy.
                    unsafe { arg.copy(*address, Direction::Scatter) };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
