// Package persistentvolume binds PersistentVolumeClaims to PersistentVolumes, keeps their phases, and reclaims volumes
// whose claim is gone (K pkg/controller/volume/persistentvolume: persistentvolume-binder-controller).
//
// It guarantees:
//
//  1. It is pure: Claims, Volumes and the other controllers are values for package workload, which runs them.
//  2. A volume and a claim refer to each other before either is used: the volume's claimRef is written first, then its
//     phase, then the claim's volumeName, then the claim's phase. Each write requires the state on which it was
//     decided, so two claims never get one volume.
//  3. A claim gets the smallest volume that fits, of those with the fewest access modes; of equal ones the first by
//     name. A volume that is reserved for the claim comes first.
//  4. Volumes that are bound, released or failed are never given to another claim.
//  5. No data exists here, so none is deleted: with the policy Delete, the object of a host path below /tmp is deleted,
//     those of external provisioners are left to them, and all others fail as they do without a plugin.
//  6. Volumes of the provisioner Simulated exist from their claim's creation, or with a delayed class from the
//     selection of a node for it, to its deletion, unless their policy is Retain. Claims of a pod are bound before a
//     scheduler with Needs assigns it.
//  7. Nothing is polled. Events are recorded as something changes; upstream repeats them every 15 seconds. An event of
//     a volume costs a look at all claims, and the other way round.
//
// Not modelled: pods that recycle volumes, so that the policy Recycle always fails; the annotations and finalizers of
// volumes whose plugins have moved to CSI drivers.
//
// To read the source: controller.go says which objects a change concerns; claim.go and volume.go decide, match.go
// chooses a volume, bind.go makes the writes of a binding, provision.go and reclaim.go ask for volumes and end them,
// needs.go does a scheduler's part, and schedule.go that for pods which no scheduler assigns. simulated.go is the
// simulated provisioner. ephemeral.go creates the claims of pods' generic ephemeral volumes.
package persistentvolume
