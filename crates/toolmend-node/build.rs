//! Symbols of Node are found when it loads the library.

fn main() {
    napi_build::setup();
}
