// Package webhooktest serves webhooks for tests, over HTTPS.
//
// It guarantees:
//
//  1. A server ends with its test, and has its own certificate authority.
//  2. All requests are recorded in order.
package webhooktest
