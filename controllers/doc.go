// Package controllers has one table of all controllers: those of kube-controller-manager that this program has, those
// that are a part of kube-apiserver, and the simulation of nodes and pods. The server starts them from it. Small
// controllers are files of this package; others have a package below.
//
// It guarantees:
//
//  1. Names and aliases are those of kube-controller-manager v1.37, and kube-scheduler.
//  2. Each part makes its requests with the service account and the field manager of its controller.
//  3. Parts may run more than once, one run after the other. Run returns when everything that it started has ended.
//  4. Each monitored part joins the monitor of its context once, so that a caller can wait for all of them. Settle
//     waits for them, and proves that they had nothing to do at one moment (settle.go).
//
// A controller is added by one entry in table.go, with functions for package workload, whose doc.go describes how to
// write them.
//
// To read the source: names.go and select.go (--controllers), table.go, parts.go (controllers that need more than the
// API), process.go (their input from the server, and Run); the other files are controllers.
package controllers
