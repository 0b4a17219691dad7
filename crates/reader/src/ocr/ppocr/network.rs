//! The runtime of neural networks, behind a small trait, so that another one can take its place.

use rten::{Model, ModelOptions, RunOptions, ThreadPool, Value, op_registry};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// A tensor of 32-bit floats; the last dimension varies fastest.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f32>,
}

/// A neural network with one input and one output, run from any number of threads at once.
pub(super) trait Network: Send + Sync + fmt::Debug {
    fn run(&self, input: Tensor) -> Result<Tensor, String>;

    /// A text that the file of the model carries under this name.
    fn metadata(&self, name: &str) -> Option<&str>;
}

/// Thread pools of one thread each. Pages are read side by side, so that more threads for a page would only take turns
/// with those of other pages; there are as many pools as pages were ever read at once.
#[derive(Debug, Default)]
pub(super) struct Pools {
    idle: Mutex<Vec<Arc<ThreadPool>>>,
}

impl Pools {
    fn take(&self) -> Arc<ThreadPool> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| Arc::new(ThreadPool::with_num_threads(1)))
    }

    fn put_back(&self, pool: Arc<ThreadPool>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(pool);
    }
}

/// An ONNX model run by `rten`.
pub(super) struct RtenNetwork {
    model: Model,
    pools: Arc<Pools>,
}

impl fmt::Debug for RtenNetwork {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RtenNetwork").field("parameters", &self.model.total_params()).finish_non_exhaustive()
    }
}

impl RtenNetwork {
    /// Loads a model from the bytes of its ONNX file.
    pub(super) fn load(onnx: Vec<u8>, pools: &Arc<Pools>) -> Result<Self, String> {
        // What the detection and the recognition of PP-OCRv6 are made of; all others would only make the program larger.
        let operators = op_registry!(
            Add,
            AveragePool,
            BatchNormalization,
            Concat,
            Conv,
            ConvTranspose,
            Div,
            Erf,
            GlobalAveragePool,
            HardSigmoid,
            Identity,
            MatMul,
            MaxPool,
            Mul,
            Pow,
            ReduceMean,
            Relu,
            Reshape,
            Resize,
            Shape,
            Sigmoid,
            Slice,
            Softmax,
            Sqrt,
            Squeeze,
            Sub,
            Transpose,
            Unsqueeze
        );
        let model = ModelOptions::with_ops(operators).load(onnx).map_err(|error| error.to_string())?;
        Ok(Self { model, pools: Arc::clone(pools) })
    }
}

impl Network for RtenNetwork {
    fn run(&self, input: Tensor) -> Result<Tensor, String> {
        let input = Value::from_shape(&input.shape, input.values).map_err(|error| error.to_string())?;
        let pool = self.pools.take();
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&pool)));
        let output = self.model.run_one(input.into(), Some(options)).map_err(|error| error.to_string());
        self.pools.put_back(pool);
        match output? {
            Value::FloatTensor(output) => {
                use rten_tensor::prelude::*;
                Ok(Tensor { shape: output.shape().to_vec(), values: output.into_data() })
            }
            _ => Err("the model's output is not of floats".to_owned()),
        }
    }

    fn metadata(&self, name: &str) -> Option<&str> {
        self.model.metadata().get(name)
    }
}
