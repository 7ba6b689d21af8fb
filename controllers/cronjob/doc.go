// Package cronjob creates Jobs on a schedule (K pkg/controller/cronjob), and deletes finished ones.
//
// It guarantees:
//
//  1. Decisions are pure: a CronJob, its Jobs and the time in, a plan out.
//  2. A scheduled time creates at most one Job: the Job's name contains the time (I-07), and the status has the last
//     handled time.
//  3. Any number of missed times creates one Job, for the last of them. Finding that time takes a bounded number of
//     steps.
//  4. A CronJob that is suspended or being deleted, or whose schedule or time zone is invalid, creates no Jobs; its
//     status is still updated.
package cronjob
