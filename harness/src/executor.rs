//! Executors for the futures of asynchronous benchmarks.

/// An executor: runs a future to its end on the calling thread. With the feature `tokio`, tokio's `Runtime` and `Handle` implement it.
///
/// ```
/// use std::pin::pin;
/// use std::task::{Context, Poll, Waker};
///
/// /// For futures that are never pending for long.
/// struct Spin;
///
/// impl perfcheck::AsyncExecutor for Spin {
///     fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
///         let mut future = pin!(future);
///         let mut context = Context::from_waker(Waker::noop());
///         loop {
///             if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
///                 return output;
///             }
///         }
///     }
/// }
///
/// fn ready(suite: &mut perfcheck::Suite) {
///     suite.bench("ready", |b| b.to_async(Spin).iter(|| async { 1 + 1 }));
/// }
/// ```
pub trait AsyncExecutor {
    /// Runs `future` until it is ready.
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T;
}

impl<E: AsyncExecutor> AsyncExecutor for &E {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        (**self).block_on(future)
    }
}

#[cfg(feature = "tokio")]
impl AsyncExecutor for tokio::runtime::Runtime {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.block_on(future)
    }
}

#[cfg(feature = "tokio")]
impl AsyncExecutor for tokio::runtime::Handle {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.block_on(future)
    }
}

#[cfg(all(test, feature = "tokio"))]
mod tests {
    use super::*;

    #[test]
    fn a_tokio_runtime_its_reference_and_its_handle_are_executors() {
        fn answer(executor: impl AsyncExecutor) -> u32 {
            executor.block_on(async {
                tokio::task::yield_now().await;
                42
            })
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        assert_eq!(answer(&runtime), 42);
        assert_eq!(answer(runtime.handle().clone()), 42);
        assert_eq!(answer(runtime), 42);
    }
}
