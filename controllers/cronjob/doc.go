// Package cronjob makes Jobs by a timetable (K pkg/controller/cronjob), and clears away those that
// have finished.
//
// It guarantees:
//
//  1. Decide is pure: a CronJob, its Jobs and the time in, a Plan out. The same values give the same
//     Plan, in the same order.
//  2. A time of the timetable makes at most one Job: the Job's name is made of the time (I-07), and a
//     time that has been dealt with is in the status.
//  3. Times that were missed make one Job, the last of them, however many they were. Finding it takes a
//     bounded number of steps.
//  4. A CronJob that is suspended or being deleted, or whose timetable or time zone can't be read, makes
//     no Jobs; its status is still kept.
package cronjob
