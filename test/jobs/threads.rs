// threads.rs - threads, its own path, panic, stack overflow
use std::{env, thread};

#[inline(never)]
fn deep(n: u64) -> u64 {
    let keep = [n; 64];
    if n == u64::MAX {
        return 0;
    }
    deep(n + 1) + unsafe { std::ptr::read_volatile(&keep[3]) }
}

fn main() {
    let handles: Vec<_> = (0..4u64)
        .map(|i| thread::spawn(move || (0..1000 * i).sum::<u64>()))
        .collect();
    for handle in handles {
        println!("{}", handle.join().unwrap());
    }
    let exe = env::current_exe().unwrap();
    println!("{}", exe.file_name().unwrap().to_string_lossy());
    match env::args().nth(1).as_deref() {
        Some("panic") => panic!("as asked"),
        Some("overflow") => println!("{}", deep(0)),
        _ => (),
    }
}
