//! Generates the JavaScript of a WebAssembly module: taquin-bindgen MODULE DIR

use std::env::args;
use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let [_, module, directory] =
        args().collect::<Vec<_>>().try_into().map_err(|_| "usage: taquin-bindgen MODULE DIR")?;
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("taquin").web(true)?.typescript(false);
    bindgen.remove_name_section(true).remove_producers_section(true).generate(directory)?;
    Ok(())
}
