//! Executors for the futures of asynchronous benchmarks.

/// An executor runs a future to completion on the calling thread.
///
/// # Examples
///
/// ```
/// use std::pin::pin;
/// use std::task::{Context, Poll, Waker};
///
/// /// For futures that are never pending for long.
/// struct Spin;
///
/// impl criterion::async_executor::AsyncExecutor for Spin {
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
/// ```
pub trait AsyncExecutor {
    /// Runs `future` to completion and returns its output.
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T;
}

/// The executor of the crate `futures`.
#[cfg(feature = "async_futures")]
pub struct FuturesExecutor;

#[cfg(feature = "async_futures")]
impl AsyncExecutor for FuturesExecutor {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        futures::executor::block_on(future)
    }
}

/// The executor of the crate `smol`.
#[cfg(feature = "async_smol")]
pub struct SmolExecutor;

#[cfg(feature = "async_smol")]
impl AsyncExecutor for SmolExecutor {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        smol::block_on(future)
    }
}

/// An executor for futures of the crate `async-std`, whose reactor runs on threads of its own.
///
/// It does not depend on `async-std`, so `async_std::task::current()` fails in the outermost future.
#[cfg(feature = "async_std")]
pub struct AsyncStdExecutor;

#[cfg(feature = "async_std")]
impl AsyncExecutor for AsyncStdExecutor {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        struct Unpark(std::thread::Thread);

        impl std::task::Wake for Unpark {
            fn wake(self: std::sync::Arc<Self>) {
                self.0.unpark();
            }
        }

        let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
        let mut context = std::task::Context::from_waker(&waker);
        let mut future = std::pin::pin!(future);
        loop {
            match future.as_mut().poll(&mut context) {
                std::task::Poll::Ready(output) => return output,
                std::task::Poll::Pending => std::thread::park(),
            }
        }
    }
}

#[cfg(feature = "async_tokio")]
impl AsyncExecutor for tokio::runtime::Runtime {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.block_on(future)
    }
}

#[cfg(feature = "async_tokio")]
impl AsyncExecutor for &tokio::runtime::Runtime {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        (*self).block_on(future)
    }
}

#[cfg(feature = "async_tokio")]
impl AsyncExecutor for tokio::runtime::Handle {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.block_on(future)
    }
}

#[cfg(feature = "async_tokio")]
impl AsyncExecutor for &tokio::runtime::Handle {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        (*self).block_on(future)
    }
}
