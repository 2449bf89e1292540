//! cpu
#![allow(missing_docs)]
pub struct T(u64);
pub fn now() -> T { T(std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse().unwrap()) }
impl T { pub fn elapsed(&self) -> std::time::Duration { std::time::Duration::from_nanos(now().0 - self.0) } }
