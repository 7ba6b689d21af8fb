package persistentvolume

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Plugins of kube-controller-manager that have not moved to CSI drivers. None of them provisions volumes.
const (
	hostPath = "kubernetes.io/host-path"
	nfs      = "kubernetes.io/nfs"
	local    = "kubernetes.io/local-volume"
	csi      = "kubernetes.io/csi"
)

// drivers has the CSI drivers to which plugins have moved (k8s.io/csi-translation-lib/plugins).
var drivers = map[string]string{
	"kubernetes.io/aws-ebs":         "ebs.csi.aws.com",
	"kubernetes.io/gce-pd":          "pd.csi.storage.gke.io",
	"kubernetes.io/cinder":          "cinder.csi.openstack.org",
	"kubernetes.io/azure-disk":      "disk.csi.azure.com",
	"kubernetes.io/azure-file":      "file.csi.azure.com",
	"kubernetes.io/vsphere-volume":  "csi.vsphere.vmware.com",
	"kubernetes.io/portworx-volume": "pxd.portworx.com",
}

// provision requests a volume from the provisioner of the claim's class (provisionClaim, findProvisionablePlugin).
func provision(r workload.Reader, p *corev1.PersistentVolumeClaim) workload.Plan {
	class := workload.Get[*storagev1.StorageClass](r, "", classOf(p))
	if class == nil {
		return failed(fmt.Sprintf("storageclass.storage.k8s.io %q not found", classOf(p)))
	}
	by, moved := drivers[class.Provisioner]
	switch {
	case moved:
	case class.Provisioner == nfs, class.Provisioner == local, class.Provisioner == csi:
		return failed("no provisionable volume plugin matched")
	case class.Provisioner != hostPath && strings.HasPrefix(class.Provisioner, "kubernetes.io/"):
		return failed("no volume plugin matched name: " + class.Provisioner)
	default:
		by = class.Provisioner
	}
	if p.Annotations[provisioner] != by { // setClaimProvisioner
		next := p.DeepCopy()
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, betaProvisioner, by)
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, provisioner, by)
		return workload.Plan{Do: []workload.Action{workload.Update{Object: next}}}
	}
	if by == hostPath { // --enable-hostpath-provisioner
		return failed(fmt.Sprintf("Failed to create provisioner: provisioning in volume plugin %q is disabled", hostPath))
	}
	return workload.Plan{Events: []workload.Event{workload.Normal("ExternalProvisioning", fmt.Sprintf(
		"Waiting for a volume to be created either by the external provisioner '%s' or manually by the system "+
			"administrator. If volume creation is delayed, please verify that the provisioner is running and correctly "+
			"registered.", by))}}
}

func failed(message string) workload.Plan {
	return workload.Plan{Events: []workload.Event{workload.Warning("ProvisioningFailed", message)}}
}
