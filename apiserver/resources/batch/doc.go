// Package batch has the kinds of the group batch: Job and CronJob.
//
// It guarantees:
//
//  1. What package entry states for the packages of groups.
package batch
