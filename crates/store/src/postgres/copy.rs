//! Many new rows of a table in one stream (`COPY`): the server writes one record of its log for a page of them instead of
//! one for each, and takes no arrays apart.

use super::{fail::TxResult, session::Tx};
use std::pin::Pin;
use tokio_postgres::{binary_copy::BinaryCopyInWriter, types::Type};

/// Fewer rows are inserted by a statement, which takes one round trip less.
pub(super) const WORTH_A_COPY: usize = 16;

/// A table's columns with their types, in the order of the values that are written.
pub(super) struct Target {
    pub(super) table: &'static str,
    pub(super) columns: &'static [(&'static str, Type)],
}

impl Target {
    fn statement(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        format!("COPY {} ({}) FROM STDIN BINARY", self.table, names.join(", "))
    }
}

/// Where the rows go; they are stored by `finish`.
pub(super) type Rows<'w> = Pin<&'w mut BinaryCopyInWriter>;

/// Stores what `write` writes.
pub(super) async fn copy<W>(tx: &Tx, target: &Target, write: W) -> TxResult<()>
where
    W: AsyncFnOnce(&mut Rows<'_>) -> Result<(), tokio_postgres::Error>,
{
    let types: Vec<Type> = target.columns.iter().map(|(_, kind)| kind.clone()).collect();
    let writer = BinaryCopyInWriter::new(tx.copy_in(&target.statement()).await?, &types);
    tokio::pin!(writer);
    let mut rows: Rows<'_> = writer.as_mut();
    write(&mut rows).await?;
    writer.finish().await?;
    Ok(())
}
