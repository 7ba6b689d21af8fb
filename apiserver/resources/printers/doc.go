// Package printers says how kubectl get shows objects of the built-in kinds: the columns of a
// Table and, for an object, the cells of its row.
//
// It guarantees:
//
//  1. Columns are those of Kubernetes v1.36.3: names, types, formats, priorities, order and
//     descriptions. Descriptions that upstream takes from an API type's documentation are taken
//     from there too, so they follow k8s.io/api.
//  2. A row always has the cells of -o wide; the client drops what it doesn't show (upstream
//     generates every Table with Wide set).
//  3. Cells are string, int64 or bool, which JSON prints as upstream's. There is one cell a
//     column, but for IPAddress, whose row has an age that no column heads (as upstream).
//  4. Nothing here reads a clock: ages count from the now that is handed in.
//  5. An object of another Go type than the kind's panics: the caller looked the table up by
//     the kind of the object.
//
// Objects are those of the stored version: v1 for most, autoscaling/v2 for
// HorizontalPodAutoscaler, core v1 for Event also where it is served as events.k8s.io. They are
// expected with defaults filled in; a missing optional field prints as upstream's internal type
// would show it. APIService has no Go type in k8s.io/api and is read as JSON, from an
// unstructured object or any type that converts to one. ComponentStatus has a table although
// nothing stores it.
//
// Upstream sources, at v1.36.3: pkg/printers/internalversion/printers.go for most kinds,
// apiserver's pkg/registry/rest/table.go for Default, kube-aggregator's
// pkg/registry/apiservice/etcd/etcd.go for APIService.
package printers
