// Package batch has the kinds of the group batch: Job and CronJob.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
package batch
