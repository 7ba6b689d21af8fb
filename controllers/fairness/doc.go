// Package fairness keeps the objects of API Priority and Fairness (KEP-1040): the conditions of FlowSchemas, and the
// FlowSchemas and PriorityLevelConfigurations that every cluster has. Package apiserver/flowcontrol applies them to
// requests.
//
// It guarantees:
//
//  1. Every FlowSchema has a condition Dangling, which says whether its priority level is missing (AS
//     pkg/util/flowcontrol/apf_controller.go: presyncFlowSchemaStatus). A new server writes its conditions half a
//     second after its start.
//  2. A mandatory or suggested object that is missing is created within a minute. The spec of a mandatory one is
//     restored; that of a suggested one only if its annotation apf.kubernetes.io/autoupdate-spec is true or, without a
//     valid annotation, as long as its generation is 1. The annotation is then set to true or false accordingly.
//  3. An object with that annotation set to true that isn't one of the cluster's objects is deleted.
//  4. The values that an administrator sets for the level exempt (its shares, and the percentage that may be lent) are
//     kept.
//  5. An object that another client changes at the same time is left until the next minute.
//
// dangling, revise and unwanted are pure. (2 to 5: K pkg/registry/flowcontrol/ensurer, rest/storage_flowcontrol.go.)
package fairness
