//! The one way into compiled code.
//!
//! The code that the macro emits describes its arguments and calls these functions; they are public for it and
//! for tests that bring their own [`Function`].

use crate::abi::{Function, Role};
use crate::arg::ArgView;
use crate::bind::{self, Values};
use crate::check;
use crate::dims::{UNKNOWN, eval};
use crate::error::Result;
use crate::fault::{Context, Fault};
use crate::host::HOST;
use crate::level;
use crate::memo;
use crate::outputs::Output;
use crate::stack::Stack;
use crate::strided::Direction;
use crate::workspace::{ALIGN, Small, Workspace, keep_idle, take_idle};

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
/// The entries of `function` read and write what its description says and nothing else, and its plan is that of its
/// parameters. There is one view for each of its parameters, with its element type and rank, and exclusive access where
/// its role is not to be read.
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
    let mut symbols = Values::new();
    let symbols = unknown(function, &mut symbols, function.symbols.len(), true)?;
    let bytes = bind::take_given(function, given, symbols)
        .and_then(|()| check::conditions(function, symbols))
        .and_then(|()| check::sizes(function, symbols))
        .and_then(|()| arena_bytes(function, symbols));
    bytes.map_err(|fault| Context { function, symbols, given: true }.explain(fault))
}

/// Room for so many values.
#[inline]
fn unknown<'s>(
    function: &'static Function,
    values: &'s mut Values,
    count: usize,
    given: bool,
) -> Result<&'s mut [i64]> {
    let short = |bytes| Context { function, symbols: &[], given }.explain(Fault::Memory { bytes });
    values.fill(count, |_| UNKNOWN).map_err(short)
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
    let symbols = function.symbols.len();
    let mut values = Values::new();
    let values = unknown(function, &mut values, function.plan.values(symbols), given.is_some())?;
    // SAFETY: the caller's promise.
    match unsafe { attempt(function, args, given, values, outputs, workspace) } {
        Ok(()) => Ok(()),
        Err(fault) => {
            Err(Context { function, symbols: &values[..symbols], given: given.is_some() }.explain(fault))
        }
    }
}

/// # Safety
///
/// That of [`call`] and [`call_new`].
unsafe fn attempt(
    function: &'static Function,
    args: &[ArgView<'_>],
    given: Option<&[usize]>,
    values: &mut [i64],
    outputs: &mut [Output],
    workspace: Option<&mut Workspace>,
) -> Result<(), Fault> {
    let symbols = &mut values[..function.symbols.len()];
    match given {
        Some(given) => bind::take_given(function, given, symbols)?,
        None => bind::solve(function, args, symbols),
    }
    let known = memo::find(function, symbols);
    // SAFETY: the caller's promise.
    let staging = unsafe { check::check(function, args, values, (given.is_some(), known.is_some()))? };
    let symbols = &values[..function.symbols.len()];
    let entry = level::pick(function).ok_or(Fault::Level)?.entry;
    for (position, output) in outputs.iter_mut().enumerate() {
        let index = args.len() + position;
        if let Some(param) = function.params.get(index) {
            output.allocate(index, param, symbols)?;
        }
    }
    let arena = match known {
        Some(arena) => arena,
        None => {
            let arena = arena_bytes(function, symbols)?;
            memo::keep(function, symbols, arena);
            arena
        }
    };
    let bytes = arena.checked_add(staging).ok_or(Fault::WorkspaceOverflow)?;
    let mut addresses = Stack::<*mut u8, 32>::new();
    let address = |index: usize| args.get(index).map_or(std::ptr::null_mut(), |arg| arg.data);
    let addresses = addresses.fill(function.params.len(), address);
    let addresses = addresses.map_err(|bytes| Fault::Memory { bytes })?;
    for (address, output) in addresses.iter_mut().skip(args.len()).zip(outputs) {
        *address = output.address();
    }
    let (mut small, mut idle) = (Small::new(), None);
    let memory = match workspace {
        Some(workspace) => workspace.reserve(bytes),
        None if bytes <= Small::BYTES => Some(small.address()),
        None => idle.insert(take_idle()).reserve(bytes),
    };
    let memory = memory.ok_or(Fault::Memory { bytes })?;
    if staging > 0 {
        // SAFETY: the caller's promise; the memory behind the arena has room for the copies.
        unsafe { gather(function, args, addresses, memory.wrapping_add(arena)) };
    }
    // SAFETY: every parameter has the address of dense elements of its shape, the symbols are those of the shapes,
    // the workspace has the size that the function asked for, and the checks it relies on have passed.
    unsafe { entry(addresses.as_ptr(), symbols.as_ptr(), memory, &HOST) };
    if staging > 0 {
        // SAFETY: the caller's promise; the entry has initialised the copies of what it writes.
        unsafe { scatter(function, args, addresses) };
    }
    if let Some(workspace) = idle {
        keep_idle(workspace);
    }
    Ok(())
}

/// Makes dense copies of arguments that are not dense, at `next` and behind it, and takes their addresses.
///
/// # Safety
///
/// The arguments are live, initialised where they are read, and there is room for the copies.
#[cold]
unsafe fn gather(function: &Function, args: &[ArgView<'_>], addresses: &mut [*mut u8], mut next: *mut u8) {
    for (address, (arg, param)) in addresses.iter_mut().zip(args.iter().zip(function.params)) {
        if !arg.is_dense() {
            *address = next;
            next = next.wrapping_add(dense_bytes(arg).unwrap_or(0));
            if param.role != Role::Output {
                // SAFETY: the caller's promise.
                unsafe { arg.copy(*address, Direction::Gather) };
            }
        }
    }
}

/// Writes the dense copies of arguments back to those that may be written.
///
/// # Safety
///
/// The copies are initialised, and the caller has exclusive access to what is written.
#[cold]
unsafe fn scatter(function: &Function, args: &[ArgView<'_>], addresses: &[*mut u8]) {
    for (address, (arg, param)) in addresses.iter().zip(args.iter().zip(function.params)) {
        if param.role != Role::Input && !arg.is_dense() {
            // SAFETY: the caller's promise.
            unsafe { arg.copy(*address, Direction::Scatter) };
        }
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

#[cfg(test)]
mod tests;
