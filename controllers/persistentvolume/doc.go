// Package persistentvolume binds PersistentVolumeClaims to PersistentVolumes, keeps their phases, and reclaims volumes
// whose claim is gone (K pkg/controller/volume/persistentvolume: persistentvolume-binder-controller).
//
// It guarantees:
//
//  1. It is pure: Claims, Volumes and the other controllers are values for package workload, which runs them.
//  2. A volume and a claim refer to each other before either is used: the volume's claimRef is written first, then its
//     phase, then the claim's volumeName, then the claim's phase. Each write requires the state on which it was
//     decided, so two claims never get one volume.
//  3. A claim gets a volume that fits: of those with the fewest access modes the smallest, and of equal ones the first
//     by name. A volume that is reserved for the claim comes first.
//  4. Volumes that are bound, released or failed are never given to another claim.
//  5. Volumes have no data here, so only objects are deleted. With the policy Delete, the volume of a host path below
//     /tmp is deleted, external provisioners delete their own volumes, and all other volumes fail as they do without a
//     plugin.
//  6. A volume of the provisioner Simulated is created with its claim or, with a delayed class, when a node is selected
//     for the claim. It is deleted with the claim, unless its policy is Retain. A scheduler with Needs assigns a pod
//     after the pod's claims are bound.
//  7. Nothing is polled. Events are recorded when something changes; upstream repeats them every 15 seconds. A change
//     of a volume reads all claims, and a change of a claim all volumes.
//
// Not modelled: pods that recycle volumes (so the policy Recycle always fails); the annotations and finalizers of
// volumes whose plugins have moved to CSI drivers.
//
// To read the source: controller.go has the objects that a change affects. claim.go and volume.go decide, match.go
// chooses a volume, bind.go makes the writes of a binding, provision.go requests volumes, and reclaim.go releases and
// deletes them. needs.go does a scheduler's part, schedule.go does it for pods that no scheduler assigns. simulated.go
// is the simulated provisioner. ephemeral.go creates the claims of generic ephemeral volumes.
package persistentvolume
