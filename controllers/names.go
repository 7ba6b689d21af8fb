package controllers

import "slices"

// Names that code outside of this package needs.
const (
	GarbageCollector = "garbage-collector-controller"
	Namespaces       = "namespace-controller"
	// Scheduler is not a controller of kube-controller-manager, and is off by default.
	Scheduler = "kube-scheduler"
)

// Controller has the name and the settings of a controller.
type Controller struct {
	Name string
	// Flag names the flag for Workers; empty if the controller has none.
	Flag string
	// Workers is the default number of objects that it works on concurrently, and Least the minimum (K
	// cmd/kube-controller-manager/app/options; pkg/controller/*/config/v1alpha1/defaults.go). The garbage collector
	// chooses the number if it is 0.
	Workers, Least int
	// What completes the description of Workers, "maximum number of ...".
	What string
	// Off reports whether '*' leaves it off.
	Off bool

	// account is its service account in the namespace kube-system (K cmd/kube-controller-manager/app), and manager its
	// field manager: the arguments of Process.Client.
	account, manager string
	// parts makes the functions that run, for one process.
	parts func(s *setup) []run
	// unmonitored reports whether no monitor waits for it.
	unmonitored bool
}

// All returns the controllers of this program.
func All() []Controller { return slices.Clone(table) }

// Names returns the names of the controllers, as in kube-controller-manager, and Scheduler.
func Names() (names []string) {
	for _, c := range table {
		names = append(names, c.Name)
	}
	return names
}

// Of returns the controller of that name; false if this program has none.
func Of(name string) (Controller, bool) {
	if i := slices.IndexFunc(table, func(c Controller) bool { return c.Name == name }); i >= 0 {
		return table[i], true
	}
	return Controller{}, false
}

// syncs returns a controller with a number of workers and the usual description of it.
func syncs(name, flag string, workers int, account string, parts func(*setup) []run) Controller {
	return Controller{Name: name, Flag: flag, Workers: workers, Least: 1, account: account, parts: parts,
		What: "objects that " + name + " syncs concurrently"}
}
