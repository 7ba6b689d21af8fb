// Package webhooktest serves webhooks for tests, over HTTPS.
//
// It guarantees:
//
//  1. A server ends with its test, and has an authority of its own.
//  2. Every request is recorded, in the order in which they came.
package webhooktest
