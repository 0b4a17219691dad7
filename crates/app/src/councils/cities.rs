//! Cities as people enter them: checked against all that is stored, and then stored together.

use super::CouncilRefused;
use crate::{app::App, error::AppResult};
use bindery_civic::{
    records::{Edited, Jurisdiction, JurisdictionFilter},
    register::{Entry, Plan, Purpose, plan, plan::PlacedFault},
};

/// Others may change the same again and again; not this often.
const MOST_ATTEMPTS: usize = 10;

impl App {
    /// Stores what the entries come to, all or nothing. They are made of what is stored, and made again when another
    /// process has changed it meanwhile.
    pub async fn store_cities(
        &self,
        purpose: Purpose,
        entries: impl Fn(&[Jurisdiction]) -> Result<Vec<(String, Entry)>, CouncilRefused>,
    ) -> AppResult<Result<Plan, Vec<PlacedFault>>> {
        for _ in 0..MOST_ATTEMPTS {
            let stored = self.civic().jurisdictions(JurisdictionFilter::default()).await?;
            let plan = match plan(&entries(&stored)?, &stored, purpose) {
                Ok(plan) => plan,
                Err(faults) => return Ok(Err(faults)),
            };
            match self.civic().edit_jurisdictions(plan.edits.clone()).await? {
                Edited::Stored => return Ok(Ok(plan)),
                Edited::Stale(_) => {}
            }
        }
        Err(CouncilRefused::Contended.into())
    }
}
