// Package featuregates has the feature gates of kube-apiserver v1.37, and determines which are enabled.
//
// It guarantees:
//
//  1. A gate that kube-apiserver knows is accepted. Errors of unknown gates, and of other values of locked ones, are
//     kube-apiserver's.
//  2. AllAlpha and AllBeta set the gates of their stage that are not set themselves.
//  3. Few gates have an effect in this program: Effective lists them.
//
// Dependencies between gates are not validated. The list is parsed once, at its first use.
package featuregates
