//! A bench executable with a counting allocator. Its bodies allocate known amounts.

use perfcheck::{AsyncExecutor, BatchSize, CountingAllocator, Suite};
use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: CountingAllocator<Stingy> = CountingAllocator::new(Stingy);

/// An allocator that refuses blocks of one size.
struct Stingy;

const REFUSED: usize = 77_777;

// SAFETY: every call goes to the system's allocator, except that blocks of one size are refused, which any allocator may do.
#[expect(unsafe_code, reason = "a global allocator is unsafe to write")]
unsafe impl GlobalAlloc for Stingy {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() == REFUSED {
            return std::ptr::null_mut();
        }
        // SAFETY: our caller upholds the contract of the system allocator's method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: our caller upholds the contract of the system allocator's method.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// An executor that polls on a new thread each time, so an iteration may end on a different thread than it began on.
struct Wandering;

/// A wrapper that moves a future to another thread, even if the future is not `Send`.
struct Moved<F>(F);

// SAFETY: each poll and its thread end before the next poll begins. The futures below hold nothing that belongs to a thread.
#[expect(unsafe_code, reason = "executors take futures that are not `Send`")]
unsafe impl<F> Send for Moved<F> {}

impl AsyncExecutor for Wandering {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        loop {
            let borrowed = Moved(future.as_mut());
            let polled = thread::scope(|scope| {
                let polling = scope.spawn(move || {
                    let Moved(mut future) = { borrowed };
                    let mut context = Context::from_waker(Waker::noop());
                    Moved(future.as_mut().poll(&mut context))
                });
                polling.join().expect("the future does not panic").0
            });
            if let Poll::Ready(output) = polled {
                return output;
            }
        }
    }
}

/// Returns a future that is pending once, and so is polled again on another thread.
fn go_elsewhere() -> impl Future<Output = ()> {
    let mut polled = false;
    std::future::poll_fn(move |_| {
        if std::mem::replace(&mut polled, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
}

fn block(bytes: usize) -> Vec<u8> {
    Vec::with_capacity(black_box(bytes))
}

fn one_thread(suite: &mut Suite) {
    suite.bench("empty", |b| b.iter(|| ()));
    suite.bench("empty/batched", |b| {
        b.iter_batched(|| block(100), black_box, BatchSize::SmallInput);
    });
    suite.bench("empty/latency", |b| b.iter_latency(|| ()));
    suite.bench("64 KiB beside 1 MiB", |b| {
        b.iter_batched_ref(
            || block(1 << 20),
            |_| block(64 << 10),
            BatchSize::PerIteration,
        );
    });
    suite.bench("two at once, one more", |b| {
        b.iter(|| {
            drop((block(1000), block(500)));
            block(1200)
        });
    });
    suite.bench("grows and shrinks", |b| {
        b.iter(|| {
            let mut bytes = block(100);
            bytes.push(1);
            bytes.reserve_exact(299);
            bytes.shrink_to(50);
            bytes
        });
    });
    suite.bench("zeroed", |b| b.iter(|| vec![0_u8; black_box(4096)]));
    suite.bench("refused", |b| {
        b.iter(|| {
            Vec::<u8>::new()
                .try_reserve_exact(black_box(REFUSED))
                .is_err()
        });
    });
    suite.bench("frees more", |b| {
        b.iter_batched(
            || block(5000),
            |input| {
                drop(input);
                drop(block(10));
            },
            BatchSize::PerIteration,
        );
    });
    suite.bench("custom", |b| {
        b.iter_custom(|iterations| {
            for _ in 0..iterations {
                drop(block(7));
            }
            Duration::from_nanos(iterations)
        });
    });
    suite.bench("operations", |b| b.iter_latency(|| block(30)));
    suite.bench("slow", |b| {
        b.iter(|| {
            thread::sleep(Duration::from_millis(20));
            block(1)
        });
    });
    suite.bench("panics while it counts", |b| {
        b.iter(|| black_box(None::<u8>).expect("a number"));
    });
}

/// Allocates when its thread ends.
struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        drop(block(700));
    }
}

thread_local! {
    static LATE: Late = const { Late };
}

/// The request that ends the helper thread.
const LAST: u32 = 2;

fn threads(suite: &mut Suite) {
    // The helper thread starts before the window opens. Both threads spin, because a blocking channel may allocate.
    suite.bench("helped", |b| {
        let request = AtomicU32::new(0);
        let wait_until = |number: u32| {
            while request.load(SeqCst) != number {
                thread::yield_now();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                loop {
                    while request.load(SeqCst) == 0 {
                        thread::yield_now();
                    }
                    if request.load(SeqCst) == LAST {
                        return;
                    }
                    drop(block(3000));
                    request.store(0, SeqCst);
                }
            });
            b.iter(|| {
                request.store(1, SeqCst);
                drop(block(40));
                wait_until(0);
            });
            request.store(LAST, SeqCst);
        });
    });
    suite.bench("ends late", |b| {
        b.iter(|| {
            thread::spawn(|| LATE.with(|_| ()))
                .join()
                .expect("it does nothing");
        });
    });
    suite.bench("wanders", |b| {
        b.to_async(Wandering).iter(async || {
            let kept = block(2000);
            go_elsewhere().await;
            (kept, block(100))
        });
    });
    suite.bench("stays", |b| {
        b.to_async(Wandering).iter(async || block(100));
    });
}

perfcheck::main!(one_thread, threads);
