//! Sides of branches that are long and seldom taken: functions of their own, one for all places that are equal.
//!
//! A side of an elementwise function for its rare operands, such as the reduction of large angles, is longer than
//! all else together, and stands wherever the function is used.  What it takes and what it gives passes through a
//! struct on the stack, so that the usual side keeps its registers.

use std::collections::{BTreeMap, BTreeSet};

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Linkage;
use inkwell::types::{BasicTypeEnum, StructType};
use inkwell::values::{BasicValueEnum, FunctionValue, InstructionValue, PointerValue};

use super::tasks::is_constant;
use super::{Emitter, attributes};
use crate::codegen::bug;
use crate::diag::Bug;
use crate::lanes::Val;
use crate::loops::walk::Rename;
use crate::loops::{Block, Buf, Inst, Kernel, Ty};

/// From so many instructions on.
const LONG: usize = 64;

/// Of so many passes one takes a rare side, as far as LLVM is told.
const USUAL: u64 = 2000;

/// The function of a side.
#[derive(Clone, Copy)]
pub(super) struct Rare<'ctx> {
    function: FunctionValue<'ctx>,
    /// What it takes, then what it gives.
    frame: StructType<'ctx>,
}

impl<'ctx, 'k> Emitter<'ctx, 'k> {
    /// Whether a side of a branch is to be a function: it is long and computes from registers alone.
    pub(super) fn is_rare(block: &Block) -> bool {
        matches!(pure_size(block), Some(size) if size >= LONG)
    }

    /// Tells LLVM that the first side of a branch is seldom taken.
    pub(super) fn mark_rare(&self, branch: InstructionValue<'ctx>) -> Result<(), Bug> {
        let weight = |count| self.context.i32_type().const_int(count, false).into();
        let node = [self.context.metadata_string("branch_weights").into(), weight(1), weight(USUAL)];
        let kind = self.context.get_kind_id("prof");
        branch.set_metadata(self.context.metadata_node(&node), kind).map_err(|error| bug(error.to_string()))
    }

    /// Calls the function of a side; gives its yields as the types of `results`.
    pub(super) fn rare(
        &mut self,
        block: &'k Block,
        results: &[Val],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, Bug> {
        let (captured, key) = self.names_of(block, results);
        let rare = match self.rare.get(&key) {
            Some(rare) => *rare,
            None => {
                let rare = self.outline(block, results, &captured)?;
                self.rare.insert(key, rare);
                rare
            }
        };
        let frame = self.alloca(rare.frame)?;
        for (field, val) in (0..).zip(&captured) {
            let place = self.builder.build_struct_gep(rare.frame, frame, field, "")?;
            self.builder.build_store(place, self.value(*val)?)?;
        }
        self.builder.build_call(rare.function, &[frame.into()], "")?;
        (captured.len() as u32..)
            .zip(results)
            .map(|(field, _)| self.taken(rare.frame, frame, field))
            .collect()
    }

    /// The values from outside that a side uses, in the order of their use, and a text that is the same for equal
    /// sides.
    fn names_of(&self, block: &Block, results: &[Val]) -> (Vec<Val>, String) {
        let mut names = Names { numbers: BTreeMap::new(), types: Vec::new(), of: &self.kernel.types };
        let (mut captured, mut key, mut seen) = (Vec::new(), String::new(), BTreeSet::new());
        block.uses(&mut |val| {
            let Some(value) = self.values[val.0 as usize].filter(|_| seen.insert(val)) else { return };
            let number = names.number(val);
            if is_constant(value) {
                key.push_str(&format!("{number} {value}\n"));
            } else {
                captured.push(val);
                key.push_str(&format!("{number}\n"));
            }
        });
        let mut insts = block.insts.clone();
        insts.iter_mut().for_each(|inst| inst.rename(&mut names));
        let yields = block.yields.iter().map(|val| names.number(*val)).collect();
        results.iter().for_each(|val| names.types.push(self.ty(*val)));
        let (target, types) = (self.kernel.target.clone(), names.types);
        key.push_str(
            &Kernel { target, buffers: Vec::new(), body: Block { insts, yields }, types: types.clone() }
                .to_string(),
        );
        key.push_str(&format!("{types:?}"));
        (captured, key)
    }

    fn outline(&mut self, block: &'k Block, results: &[Val], captured: &[Val]) -> Result<Rare<'ctx>, Bug> {
        let types: Vec<BasicTypeEnum> =
            captured.iter().chain(results).map(|val| self.lower(self.ty(*val))).collect();
        let frame = self.context.struct_type(&types, false);
        let function = self.rare_function()?;
        let parameter = function.get_first_param().ok_or_else(|| bug("a rare side lacks its parameter"))?;
        let parameter = parameter.into_pointer_value();
        let builder = self.context.create_builder();
        builder.position_at_end(self.context.append_basic_block(function, ""));
        let outside = std::mem::replace(&mut self.builder, builder);
        let caller = std::mem::replace(&mut self.function, function);
        let values = captured.iter().map(|val| self.value(*val)).collect::<Result<Vec<_>, Bug>>()?;
        for (field, val) in (0..).zip(captured) {
            let value = self.taken(frame, parameter, field)?;
            self.define(*val, value);
        }
        self.block(block)?;
        let yields = self.fitted(&block.yields, results)?;
        for (field, value) in (captured.len() as u32..).zip(yields) {
            let place = self.builder.build_struct_gep(frame, parameter, field, "")?;
            self.builder.build_store(place, value)?;
        }
        self.builder.build_return(None)?;
        self.builder = outside;
        self.function = caller;
        for (val, value) in captured.iter().zip(values) {
            self.define(*val, value);
        }
        Ok(Rare { function, frame })
    }

    fn taken(
        &self,
        frame: StructType<'ctx>,
        start: PointerValue<'ctx>,
        field: u32,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let ty = frame.get_field_type_at_index(field).ok_or_else(|| bug("a frame lacks a field"))?;
        let place = self.builder.build_struct_gep(frame, start, field, "")?;
        Ok(self.builder.build_load(ty, place, "")?)
    }

    /// Declares the function of a side, which belongs to the entry as tasks do.
    fn rare_function(&self) -> Result<FunctionValue<'ctx>, Bug> {
        let caller = self.function.as_global_value();
        let name = format!("{}.rare{}", self.symbol, self.rare.len());
        let ty =
            self.context.void_type().fn_type(&[self.context.ptr_type(AddressSpace::default()).into()], false);
        let function = self.module.add_function(&name, ty, Some(Linkage::Internal));
        let comdat = caller.get_comdat().ok_or_else(|| bug("a function has no comdat"))?;
        function.as_global_value().set_comdat(comdat);
        attributes(&self.context, function, &self.kernel.target);
        for name in ["cold", "noinline"] {
            let kind = Attribute::get_named_enum_kind_id(name);
            function.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, 0));
        }
        Ok(function)
    }
}

/// The number of instructions; none where some touch memory or call.
fn pure_size(block: &Block) -> Option<usize> {
    block.insts.iter().try_fold(0, |sum, inst| {
        match inst {
            Inst::Load { .. } | Inst::Gather { .. } | Inst::Store { .. } | Inst::Prefetch { .. } => {
                return None;
            }
            Inst::Address { .. } | Inst::Fence => return None,
            Inst::Symbol(..) | Inst::Parallel(_) | Inst::Enter(_) => return None,
            Inst::Input(..) | Inst::Call { .. } | Inst::Nest { .. } => return None,
            _ => {}
        }
        inst.blocks().try_fold(sum + 1, |sum, block| Some(sum + pure_size(block)?))
    })
}

/// Numbers values in the order in which they are met.
struct Names<'k> {
    numbers: BTreeMap<Val, Val>,
    types: Vec<Ty>,
    of: &'k [Ty],
}

impl Names<'_> {
    fn number(&mut self, val: Val) -> Val {
        *self.numbers.entry(val).or_insert_with(|| {
            self.types.push(self.of[val.0 as usize]);
            Val(self.types.len() as u32 - 1)
        })
    }
}

impl Rename for Names<'_> {
    fn val(&mut self, val: &mut Val) {
        *val = self.number(*val);
    }

    fn buf(&mut self, _: &mut Buf) {}
}
