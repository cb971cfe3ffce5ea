//! What the store lets go of, so that it does not grow with every campaign.
//!
//! Documents and results stay. Runs, and what they saw, serve to go on with a campaign and to look up how a test came to fail: both
//! are asked of the newest campaign of a verb only.

use rusqlite::{Connection, params};

use crate::CampaignId;
use crate::campaign::now;

/// Seconds after which nobody goes on with a campaign that was cut off, while a newer one has ended: 30 days.
const ABANDONED: i64 = 30 * 86_400;

/// Forgets the runs of a verb's campaigns before this one. One that is under way may be another flakelab's.
pub(crate) fn runs_before(connection: &Connection, campaign: CampaignId) -> rusqlite::Result<()> {
    let past = "(SELECT past.id FROM campaigns past JOIN campaigns this ON this.verb = past.verb
                 WHERE this.id = ?1 AND past.id < ?1 AND (past.finished IS NOT NULL OR past.created < ?2))";
    for table in ["runs", "texts", "snapshots"] {
        connection.execute(
            &format!("DELETE FROM {table} WHERE campaign IN {past}"),
            params![campaign.0, now() - ABANDONED],
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flakelab_model::Suite;

    use crate::{CampaignId, Location, NewCampaign, Store};

    #[test]
    fn runs_of_earlier_campaigns_go_and_their_documents_stay() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::open(Location::given(dir.path())).expect("store");
        let begin = |verb: &str| {
            let new = NewCampaign {
                verb,
                seed: 1,
                configuration: "{}",
                environment: "{}",
                suite: &Suite::default(),
            };
            let campaign = store.begin(&new).expect("begun");
            let run = "INSERT INTO runs (campaign, isolation, attempt, tests, hash_seed, ending, cpu_us, wall_us, plain, finished)
                       VALUES (?, 'fork', 0, x'', 0, 'completed', 1, 1, 1, 1)";
            store.connection.execute(run, [campaign.0]).expect("a run");
            let run = store.connection.last_insert_rowid();
            store
                .connection
                .execute(
                    "INSERT INTO executions VALUES (?, 0, 'passed', 1, NULL)",
                    [run],
                )
                .expect("an execution");
            for table in ["texts", "snapshots"] {
                let insert = format!("INSERT INTO {table} VALUES (?, 0, 'x')");
                store
                    .connection
                    .execute(&insert, [campaign.0])
                    .expect(table);
            }
            campaign
        };
        let count = |table: &str, campaign: CampaignId| -> i64 {
            let of = if table == "executions" {
                "run IN (SELECT id FROM runs WHERE campaign = ?)"
            } else {
                "campaign = ?"
            };
            let query = format!("SELECT count(*) FROM {table} WHERE {of}");
            store
                .connection
                .query_row(&query, [campaign.0], |row| row.get(0))
                .expect("a number")
        };
        let old = begin("detect");
        store.finish(old, "old").expect("finished");
        let (other, cut_off) = (begin("explain"), begin("detect"));
        store.finish(other, "other").expect("finished");
        let new = begin("detect");
        assert_eq!(count("runs", old), 1, "nothing newer has ended");
        store.finish(new, "new").expect("finished");
        for table in ["runs", "texts", "snapshots", "executions"] {
            assert_eq!(count(table, old), 0, "{table}");
            for kept in [other, cut_off, new] {
                assert_eq!(count(table, kept), 1, "{table} of {kept:?}");
            }
        }
        let left: i64 = store
            .connection
            .query_row("SELECT count(*) FROM executions", [], |row| row.get(0))
            .expect("a number");
        assert_eq!(left, 3);
        let documents = store.finished("detect", 9).expect("read");
        assert_eq!(documents.len(), 2);
        // One that nobody has gone on with for long.
        store
            .connection
            .execute("UPDATE campaigns SET created = 0 WHERE id = ?", [cut_off.0])
            .expect("aged");
        store.finish(new, "new").expect("finished");
        assert_eq!(count("runs", cut_off), 0);
    }
}
