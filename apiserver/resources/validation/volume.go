package validation

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// Not checked: names of claims and objects that volumes refer to, which upstream takes as they are too.

// volumes judges a spec's volumes and remembers the valid ones for the containers that mount them
// (core ValidateVolumes).
func (r *podRules) volumes(at *field.Path) (errs field.ErrorList) {
	made := map[string]bool{}
	for i := range r.spec.Volumes {
		if v := &r.spec.Volumes[i]; r.name != "" && v.Ephemeral != nil {
			made[r.name+"-"+v.Name] = true
		}
	}
	for i := range invalid.Each(r.spec.Volumes, &errs) {
		v, here := &r.spec.Volumes[i], at.Index(i)
		faults := r.volumeSource(v, here)
		if v.Name == "" {
			faults = append(faults, field.Required(here.Child("name"), ""))
		} else {
			faults = append(faults, label(v.Name, here.Child("name"))...)
		}
		if r.mountable[v.Name] != nil {
			faults = append(faults, field.Duplicate(here.Child("name"), v.Name))
		}
		if len(faults) == 0 {
			r.mountable[v.Name] = &v.VolumeSource
		}
		errs = append(errs, faults...)
		if c := v.PersistentVolumeClaim; c != nil && made[c.ClaimName] {
			errs = append(errs, field.Invalid(here.Child("persistentVolumeClaim", "claimName"), c.ClaimName,
				"must not reference a PVC that gets created for an ephemeral volume"))
		}
	}
	return errs
}

// A volumeType is one kind of source. A second source is refused under name; what is wrong with the
// only one is reported under at, which is not always the same.
type volumeType struct {
	name, at string
	has      func(s *corev1.VolumeSource) bool
	judge    func(r *podRules, s *corev1.VolumeSource, at *field.Path) field.ErrorList
	// also is judged even of a second source.
	also func(v *corev1.Volume, at *field.Path) field.ErrorList
}

func sourceOf[T any](name string, get func(*corev1.VolumeSource) *T, judge func(*T, *field.Path) field.ErrorList) volumeType {
	return volumeType{
		name: name, at: name,
		has: func(s *corev1.VolumeSource) bool { return get(s) != nil },
		judge: func(_ *podRules, s *corev1.VolumeSource, at *field.Path) field.ErrorList {
			return judge(get(s), at)
		},
	}
}

func sourceByRules[T any](name string, get func(*corev1.VolumeSource) *T, judge func(*podRules, *T, *field.Path) field.ErrorList) volumeType {
	return volumeType{
		name: name, at: name,
		has: func(s *corev1.VolumeSource) bool { return get(s) != nil },
		judge: func(r *podRules, s *corev1.VolumeSource, at *field.Path) field.ErrorList {
			return judge(r, get(s), at)
		},
	}
}

// under reports faults below another name than the source's.
func (t volumeType) under(at string) volumeType {
	t.at = at
	return t
}

// refusedAs refuses a second source under another name than the source's.
func (t volumeType) refusedAs(name string) volumeType {
	t.name = name
	return t
}

// volumeTypes in the order in which upstream looks at them, with its odd spellings.
var volumeTypes []volumeType

func init() {
	type s = corev1.VolumeSource
	iscsi := sourceOf("iscsi", func(s *s) *corev1.ISCSIVolumeSource { return s.ISCSI }, iscsiVolume)
	iscsi.also = iscsiName
	volumeTypes = []volumeType{
		sourceOf("emptyDir", func(s *s) *corev1.EmptyDirVolumeSource { return s.EmptyDir }, emptyDirVolume),
		sourceOf("hostPath", func(s *s) *corev1.HostPathVolumeSource { return s.HostPath }, hostPathVolume),
		sourceOf("gitRepo", func(s *s) *corev1.GitRepoVolumeSource { return s.GitRepo }, gitRepoVolume),
		sourceOf("gcePersistentDisk", func(s *s) *corev1.GCEPersistentDiskVolumeSource { return s.GCEPersistentDisk }, gceVolume).under("persistentDisk"),
		sourceOf("awsElasticBlockStore", func(s *s) *corev1.AWSElasticBlockStoreVolumeSource { return s.AWSElasticBlockStore }, awsVolume),
		sourceOf("secret", func(s *s) *corev1.SecretVolumeSource { return s.Secret }, secretVolume),
		sourceOf("nfs", func(s *s) *corev1.NFSVolumeSource { return s.NFS }, nfsVolume),
		iscsi,
		sourceOf("glusterfs", func(s *s) *corev1.GlusterfsVolumeSource { return s.Glusterfs }, glusterfsVolume),
		sourceOf("flocker", func(s *s) *corev1.FlockerVolumeSource { return s.Flocker }, flockerVolume),
		sourceOf("persistentVolumeClaim", func(s *s) *corev1.PersistentVolumeClaimVolumeSource { return s.PersistentVolumeClaim }, claimVolume),
		sourceOf("rbd", func(s *s) *corev1.RBDVolumeSource { return s.RBD }, rbdVolume),
		sourceOf("cinder", func(s *s) *corev1.CinderVolumeSource { return s.Cinder }, cinderVolume),
		sourceOf("cephfs", func(s *s) *corev1.CephFSVolumeSource { return s.CephFS }, cephFSVolume).refusedAs("cephFS"),
		sourceOf("quobyte", func(s *s) *corev1.QuobyteVolumeSource { return s.Quobyte }, quobyteVolume),
		sourceOf("downwardAPI", func(s *s) *corev1.DownwardAPIVolumeSource { return s.DownwardAPI }, downwardVolume).refusedAs("downwarAPI"),
		sourceOf("fc", func(s *s) *corev1.FCVolumeSource { return s.FC }, fcVolume),
		sourceOf("flexVolume", func(s *s) *corev1.FlexVolumeSource { return s.FlexVolume }, flexVolume),
		sourceOf("configMap", func(s *s) *corev1.ConfigMapVolumeSource { return s.ConfigMap }, configMapVolume),
		sourceOf("azureFile", func(s *s) *corev1.AzureFileVolumeSource { return s.AzureFile }, azureFileVolume),
		sourceOf("vsphereVolume", func(s *s) *corev1.VsphereVirtualDiskVolumeSource { return s.VsphereVolume }, vsphereVolume),
		sourceOf("photonPersistentDisk", func(s *s) *corev1.PhotonPersistentDiskVolumeSource { return s.PhotonPersistentDisk }, photonVolume),
		sourceOf("portworxVolume", func(s *s) *corev1.PortworxVolumeSource { return s.PortworxVolume }, portworxVolume),
		sourceOf("azureDisk", func(s *s) *corev1.AzureDiskVolumeSource { return s.AzureDisk }, azureDiskVolume),
		sourceOf("storageos", func(s *s) *corev1.StorageOSVolumeSource { return s.StorageOS }, storageOSVolume),
		sourceByRules("projected", func(s *s) *corev1.ProjectedVolumeSource { return s.Projected }, (*podRules).projectedVolume),
		sourceOf("scaleIO", func(s *s) *corev1.ScaleIOVolumeSource { return s.ScaleIO }, scaleIOVolume),
		sourceOf("csi", func(s *s) *corev1.CSIVolumeSource { return s.CSI }, csiVolume),
		sourceOf("ephemeral", func(s *s) *corev1.EphemeralVolumeSource { return s.Ephemeral }, ephemeralVolume),
		sourceByRules("image", func(s *s) *corev1.ImageVolumeSource { return s.Image }, (*podRules).imageVolume),
	}
}

func (r *podRules) volumeSource(v *corev1.Volume, at *field.Path) (errs field.ErrorList) {
	found := false
	for _, t := range volumeTypes {
		if !t.has(&v.VolumeSource) {
			continue
		}
		if found {
			errs = append(errs, field.Forbidden(at.Child(t.name), "may not specify more than 1 volume type"))
		} else {
			errs = append(errs, t.judge(r, &v.VolumeSource, at.Child(t.at))...)
			if t.name == "ephemeral" {
				errs = append(errs, r.claimName(v, at)...)
			}
		}
		if t.also != nil {
			errs = append(errs, t.also(v, at)...)
		}
		found = true
	}
	if !found {
		errs = append(errs, field.Required(at, "must specify a volume type"))
	}
	return errs
}

// claimName wants the claim that is made for an ephemeral volume to have a valid name.
func (r *podRules) claimName(v *corev1.Volume, at *field.Path) (errs field.ErrorList) {
	if r.name == "" || v.Name == "" {
		return nil
	}
	name := r.name + "-" + v.Name
	for _, text := range apivalidation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, field.Invalid(at.Child("name"), v.Name, fmt.Sprintf("PVC name %q: %v", name, text)))
	}
	return errs
}

// noBacksteps refuses ".." among a path's elements.
func noBacksteps(p string, at *field.Path) field.ErrorList {
	for element := range strings.SplitSeq(p, "/") {
		if element == ".." {
			return field.ErrorList{field.Invalid(at, p, "must not contain '..'")}
		}
	}
	return nil
}

// descending wants a path that leads nowhere but below.
func descending(p string, at *field.Path) (errs field.ErrorList) {
	if path.IsAbs(p) {
		errs = append(errs, field.Invalid(at, p, "must be a relative path"))
	}
	return append(errs, noBacksteps(p, at)...)
}

// projectedPath wants a path that doesn't collide with the names that projection uses itself.
func projectedPath(p string, at *field.Path) field.ErrorList {
	errs := descending(p, at)
	if strings.HasPrefix(p, "..") && !strings.HasPrefix(p, "../") {
		errs = append(errs, field.Invalid(at, p, "must not start with '..'"))
	}
	return errs
}

// fileMode wants permission bits.
func fileMode(mode *int32, at *field.Path) field.ErrorList {
	if mode == nil || *mode >= 0 && *mode <= 0o777 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *mode, "must be a number between 0 and 0777 (octal), both inclusive")}
}

// given wants each of the values, which come with their paths' last elements.
func given(at *field.Path, pairs ...string) (errs field.ErrorList) {
	for i, value := range invalid.Each(pairs, &errs) {
		if i%2 == 1 && value == "" {
			errs = append(errs, field.Required(at.Child(pairs[i-1]), ""))
		}
	}
	return errs
}
