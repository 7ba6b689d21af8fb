// Package controller has the names of the controllers: those that this program has, and all of kube-controller-manager.
//
// It guarantees:
//
//  1. Names and aliases are those of kube-controller-manager v1.37, and kube-scheduler.
//  2. It is pure: words in, names out. It knows neither flags nor the work of a controller.
package controller
