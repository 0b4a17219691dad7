//! The ledger and the answer cache in the store: all processes of a store share them.
//!
//! | file | what it does |
//! |---|---|
//! | `ledger` | the tables: calls, days with their money, answers; what is done with them as transactions |
//! | `books` | both as those who ask models want them: asked on threads that may block |

mod books;
mod ledger;

pub use books::{StoreAnswers, StoreLedger};
pub use ledger::{
    Granted, ModelAnswer, ModelCall, ModelCallFilter, ModelDay, ModelLedger, ModelLedgerDomain, MoneySetAside,
};

use crate::{Models, ModelsConfig, config::ConfigError};
use bindery_store::Store;
use std::sync::Arc;
use tokio::runtime::Handle;

/// The models that a configuration asks for. Their ledger and their answers are in the store, and they have to be made inside
/// of the runtime that the store is asked on; they are asked on threads of their own, never on the runtime's.
///
/// A key that is missing is no fault here: whoever asks is told to wait for it.
pub fn open_models(config: &ModelsConfig, store: Arc<dyn Store>) -> Result<Arc<Models>, ConfigError> {
    let runtime = Handle::try_current().map_err(|_| ConfigError::Wrong {
        field: "books",
        what: "cannot be kept outside of the program's runtime".to_owned(),
    })?;
    let ledger = Arc::new(StoreLedger::new(Arc::clone(&store), runtime.clone()));
    let answers = Arc::new(StoreAnswers::new(store, runtime));
    Models::new(config.clone(), ledger, answers).map(Arc::new)
}
