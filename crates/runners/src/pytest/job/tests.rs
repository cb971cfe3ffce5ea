//! What a job makes of the events of its run.

use flakelab_lab::trie::merge;
use flakelab_model::{Isolation, Order, RunRequest};

use super::*;

fn job(orders: &[&[u32]]) -> Job {
    let timeout = Timeout {
        test: Duration::from_secs(5),
        run: Duration::from_secs(50),
    };
    let batch: Vec<_> = orders
        .iter()
        .map(|order| {
            let order = Order(order.iter().copied().map(TestIndex).collect());
            RunRequest::new(order, Isolation::Shared, timeout)
        })
        .collect();
    Job::new(merge(batch.iter().enumerate()).remove(0), timeout)
}

fn passed(node: u32) -> OutcomeEvent {
    OutcomeEvent {
        n: node,
        o: "p".into(),
        us: 1,
        ph: None,
        m: String::new(),
        at: String::new(),
        hit: false,
        hits: 0,
        earlier: false,
    }
}

fn words(record: &RunRecord) -> Vec<&str> {
    record.executions.iter().map(|e| e.outcome.word()).collect()
}

#[test]
fn a_crash_is_charged_to_the_running_test_and_the_rest_did_not_run() {
    let mut job = job(&[&[7, 8, 9]]);
    job.begin(100);
    job.start(0);
    job.outcome(passed(0));
    job.start(1);
    job.left(11, "Fatal Python error");
    let records = job.records(1, Duration::ZERO);
    assert_eq!(words(&records[0]), ["passed", "crashed", "not_run"]);
    assert_eq!(records[0].ending, Ending::Crashed);
    let failure = records[0].executions[1].outcome.failure().expect("failure");
    assert!(
        failure.message.starts_with("killed by signal 11"),
        "{failure:?}"
    );
    assert!(failure.message.ends_with("Fatal Python error"));
}

#[test]
fn a_timeout_in_one_branch_leaves_the_other_alone() {
    let mut job = job(&[&[1, 2], &[1, 3]]);
    job.begin(100);
    job.towards(&[1, 2]);
    job.start(0);
    job.outcome(passed(0));
    job.begin(101);
    job.towards(&[END]);
    job.start(1);
    let late = Instant::now() + Duration::from_secs(6);
    assert_eq!(job.expire(late), Some(Overdue::Lineage(101)));
    assert_eq!(job.expire(late), None, "killed once");
    job.left(9, "");
    job.towards(&[END]);
    job.start(2);
    job.outcome(passed(2));
    job.end();
    job.left(0, "");
    let records = job.records(1, Duration::ZERO);
    assert_eq!(words(&records[0]), ["passed", "timed_out"]);
    assert_eq!(words(&records[1]), ["passed", "passed"]);
    assert_eq!(records[1].ending, Ending::Completed);
}

#[test]
fn a_fork_that_never_begins_is_given_up() {
    let mut job = job(&[&[1]]);
    assert_eq!(job.expire(Instant::now()), None);
    let late = Instant::now() + Duration::from_secs(11);
    assert_eq!(job.expire(late), Some(Overdue::Worker));
    assert_eq!(job.expire(late), None, "given up once");
    let why = Ending::Lost("a forked process did not start".into());
    assert_eq!(job.records(1, Duration::ZERO)[0].ending, why);
}

#[test]
fn a_killed_process_that_does_not_end_takes_its_worker_along() {
    let mut job = job(&[&[1]]);
    job.begin(100);
    job.towards(&[END]);
    job.start(0);
    let late = Instant::now() + Duration::from_secs(11);
    assert_eq!(job.expire(late), Some(Overdue::Lineage(100)));
    let later = late + Duration::from_secs(11);
    assert_eq!(job.expire(later), Some(Overdue::Worker));
    assert_eq!(words(&job.records(1, Duration::ZERO)[0]), ["timed_out"]);
}

#[test]
fn hostile_node_numbers_are_passed_over() {
    let mut job = job(&[&[1]]);
    job.begin(1);
    job.outcome(passed(4_000_000_000));
    job.left(0, "");
    assert_eq!(words(&job.records(1, Duration::ZERO)[0]), ["not_run"]);
}

#[test]
fn successors_come_in_parts_and_no_more_of_them_than_there_can_be() {
    let orders: Vec<Vec<u32>> = (1..=5).map(|last| vec![0, last]).collect();
    let orders: Vec<&[u32]> = orders.iter().map(Vec::as_slice).collect();
    let mut job = job(&orders);
    job.begin(100);
    job.towards(&[1, 2, 3]);
    job.towards(&[4, 5]);
    for _ in 0..9 {
        job.towards(&[7, 8, 9]);
    }
    assert_eq!(job.towards.len(), 7);
    job.start(0);
    job.outcome(passed(0));
    for record in job.records(1, Duration::ZERO) {
        assert_eq!(words(&record)[0], "passed");
    }
}

#[test]
fn what_lies_behind_a_process_that_cannot_be_branched_is_open() {
    let mut job = job(&[&[1, 2, 3], &[1, 2, 4], &[1, 5]]);
    job.begin(100);
    job.towards(&[1, 4]);
    job.start(0);
    job.outcome(passed(0));
    job.begin(101);
    job.towards(&[2, 3]);
    job.start(1);
    job.outcome(passed(1));
    job.cannot_branch();
    job.end();
    job.left(0, "");
    job.towards(&[END]);
    job.start(4);
    job.outcome(passed(4));
    job.end();
    job.left(0, "");
    assert_eq!(job.take_open(), [0, 1]);
    let records = job.records(1, Duration::ZERO);
    assert_eq!(records.len(), 1);
    assert_eq!(
        (records[0].request, words(&records[0])),
        (2, vec!["passed"; 2])
    );
}
