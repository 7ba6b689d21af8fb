// Package fairness keeps the objects of API Priority and Fairness (KEP-1040): the conditions of FlowSchemas, and the
// FlowSchemas and PriorityLevelConfigurations that every cluster has. What they mean for requests is the business of
// apiserver/flowcontrol.
//
// It guarantees:
//
//  1. Every FlowSchema has a condition Dangling, which says whether its priority level is stored (AS
//     pkg/util/flowcontrol/apf_controller.go: presyncFlowSchemaStatus).
//     A new server writes its conditions half a second after its start.
//  2. A mandatory or suggested object that is missing is created within a minute. The specification of a mandatory one
//     is set back; that of a suggested one if its annotation apf.kubernetes.io/autoupdate-spec says so or, without a
//     valid annotation, as long as its generation is 1. The annotation then says which of both is the case.
//  3. An object with that annotation set to true that no cluster has is deleted.
//  4. What an administrator sets for the level exempt (its shares, and how many of them are lent) stays.
//  5. An object that was changed at the same time by another client is left alone until the next minute.
//
// dangling, revise and unwanted are pure. (2 to 5: K pkg/registry/flowcontrol/ensurer, rest/storage_flowcontrol.go.)
package fairness
