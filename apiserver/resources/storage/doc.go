// Package storage has the kinds of the group storage.k8s.io: storage classes, CSI drivers and attachments.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/storage/v1
package storage
