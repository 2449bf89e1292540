use tensorjit::tensor_fn;

tensor_fn! {
    struct S80 { a: S79 }
    struct S79 { a: S78 }
    struct S78 { a: S77 }
    struct S77 { a: S76 }
    struct S76 { a: S75 }
    struct S75 { a: S74 }
    struct S74 { a: S73 }
    struct S73 { a: S72 }
    struct S72 { a: S71 }
    struct S71 { a: S70 }
    struct S70 { a: S69 }
    struct S69 { a: S68 }
    struct S68 { a: S67 }
    struct S67 { a: S66 }
    struct S66 { a: S65 }
    struct S65 { a: S64 }
    struct S64 { a: S63 }
    struct S63 { a: S62 }
    struct S62 { a: S61 }
    struct S61 { a: S60 }
    struct S60 { a: S59 }
    struct S59 { a: S58 }
    struct S58 { a: S57 }
    struct S57 { a: S56 }
    struct S56 { a: S55 }
    struct S55 { a: S54 }
    struct S54 { a: S53 }
    struct S53 { a: S52 }
    struct S52 { a: S51 }
    struct S51 { a: S50 }
    struct S50 { a: S49 }
    struct S49 { a: S48 }
    struct S48 { a: S47 }
    struct S47 { a: S46 }
    struct S46 { a: S45 }
    struct S45 { a: S44 }
    struct S44 { a: S43 }
    struct S43 { a: S42 }
    struct S42 { a: S41 }
    struct S41 { a: S40 }
    struct S40 { a: S39 }
    struct S39 { a: S38 }
    struct S38 { a: S37 }
    struct S37 { a: S36 }
    struct S36 { a: S35 }
    struct S35 { a: S34 }
    struct S34 { a: S33 }
    struct S33 { a: S32 }
    struct S32 { a: S31 }
    struct S31 { a: S30 }
    struct S30 { a: S29 }
    struct S29 { a: S28 }
    struct S28 { a: S27 }
    struct S27 { a: S26 }
    struct S26 { a: S25 }
    struct S25 { a: S24 }
    struct S24 { a: S23 }
    struct S23 { a: S22 }
    struct S22 { a: S21 }
    struct S21 { a: S20 }
    struct S20 { a: S19 }
    struct S19 { a: S18 }
    struct S18 { a: S17 }
    struct S17 { a: S16 }
    struct S16 { a: S15 }
    struct S15 { a: S14 }
    struct S14 { a: S13 }
    struct S13 { a: S12 }
    struct S12 { a: S11 }
    struct S11 { a: S10 }
    struct S10 { a: S9 }
    struct S9 { a: S8 }
    struct S8 { a: S7 }
    struct S7 { a: S6 }
    struct S6 { a: S5 }
    struct S5 { a: S4 }
    struct S4 { a: S3 }
    struct S3 { a: S2 }
    struct S2 { a: S1 }
    struct S1 { a: S0 }
    struct S0 { a: f32 }
    pub fn f(x: f32) -> f32 {
        x
    }
}

fn main() {}
