package core

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/conversion/queryparams"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// stream returns the hook that connects to a container through the kubelet, at a path. For portForward it connects to
// the pod (K pkg/registry/core/pod/strategy.go: streamLocation, PortForwardLocation).
func stream(path string) entry.Connect {
	return func(ctx context.Context, s entry.Server, c *entry.Connection) (*entry.Backend, error) {
		p, err := podOf(ctx, s, c.Namespace, c.Name)
		if err != nil {
			return nil, err
		}
		query, container, err := streamQuery(p, c)
		if err != nil {
			return nil, err
		}
		b, err := kubeletOf(ctx, s, c, p)
		switch {
		case err != nil:
			return nil, err
		case b == nil:
			return nil, apierrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", c.Name))
		}
		b.URL.Path, b.URL.RawQuery = "/"+path+"/"+p.Namespace+"/"+p.Name+container, query.Encode()
		return b, nil
	}
}

// streamQuery returns the parameters for the kubelet, and the container with a slash before it. The container is empty
// for portForward.
func streamQuery(p *corev1.Pod, c *entry.Connection) (query url.Values, container string, err error) {
	query = url.Values{}
	var stdin, stdout, stderr, tty bool
	switch o := c.Options.(type) {
	case *corev1.PodPortForwardOptions:
		if len(o.Ports) > 0 {
			query.Set(corev1.PortHeader, strings.Trim(strings.ReplaceAll(fmt.Sprint(o.Ports), " ", ","), "[]"))
		}
		return query, "", nil
	case *corev1.PodExecOptions:
		stdin, stdout, stderr, tty, container = o.Stdin, o.Stdout, o.Stderr, o.TTY, o.Container
		if len(o.Command) > 0 {
			query["command"] = o.Command
		}
	case *corev1.PodAttachOptions:
		stdin, stdout, stderr, tty, container = o.Stdin, o.Stdout, o.Stderr, o.TTY, o.Container
	}
	for name, is := range map[string]bool{
		corev1.ExecStdinParam: stdin, corev1.ExecStdoutParam: stdout, corev1.ExecStderrParam: stderr,
		corev1.ExecTTYParam: tty,
	} {
		if is {
			query.Set(name, "1")
		}
	}
	container, err = containerOf(p, container)
	return query, "/" + container, err
}

// kubeletOf returns the kubelet of a pod, or nil if the pod has no node. It returns an error for a simulated pod.
func kubeletOf(ctx context.Context, s entry.Server, c *entry.Connection, p *corev1.Pod) (*entry.Backend, error) {
	switch {
	case p.Spec.NodeName == "":
		return nil, nil
	case c.Kubelets.Simulated != nil:
		return nil, simulated("pod", p.Name)
	}
	return kubelet(ctx, s, c.Kubelets, p.Spec.NodeName)
}

// containerOf returns the container that a request names, or the pod's only container (K
// pkg/registry/core/pod/strategy.go: validateContainer).
func containerOf(p *corev1.Pod, name string) (string, error) {
	var all []string
	for c := range podspec.Containers(&p.Spec, nil) {
		all = append(all, c.Name)
	}
	switch {
	case name != "" && !slices.Contains(all, name):
		return "", apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, p.Name))
	case name != "":
		return name, nil
	case len(p.Spec.Containers) == 1:
		return p.Spec.Containers[0].Name, nil
	}
	return "", apierrors.NewBadRequest(
		fmt.Sprintf("a container name must be specified for pod %s, choose one of: %v", p.Name, all))
}

// podLog connects to the log of a container (K pkg/registry/core/pod/rest/log.go: Get, strategy.go: LogLocation).
func podLog(ctx context.Context, s entry.Server, c *entry.Connection) (*entry.Backend, error) {
	o := c.Options.(*corev1.PodLogOptions)
	if errs := validateLogOptions(o); len(errs) > 0 {
		return nil, invalid.New(corev1.SchemeGroupVersion.WithKind("PodLogOptions").GroupKind(), c.Name, errs)
	}
	p, err := podOf(ctx, s, c.Namespace, c.Name)
	if err != nil {
		return nil, err
	}
	container, err := containerOf(p, o.Container)
	if err != nil {
		return nil, err
	}
	if c.Kubelets.Simulated != nil && p.Spec.NodeName != "" {
		l := &entry.Log{}
		l.Text, l.Ended, err = c.Kubelets.Simulated(p, container, o, s.Now())
		return &entry.Backend{Log: l, Follow: o.Follow}, err
	}
	b, err := kubeletOf(ctx, s, c, p)
	if err != nil || b == nil {
		return &entry.Backend{}, err
	}
	query, err := queryparams.Convert(o)
	if err != nil {
		return nil, err
	}
	for _, own := range []string{"container", "insecureSkipTLSVerifyBackend"} {
		query.Del(own)
	}
	b.URL.Path, b.URL.RawQuery = "/containerLogs/"+p.Namespace+"/"+p.Name+"/"+container, query.Encode()
	b.Follow, b.Insecure = o.Follow, o.InsecureSkipTLSVerifyBackend
	return b, nil
}

// validateLogOptions validates the parameters of a log (K pkg/apis/core/validation/validation.go:
// ValidatePodLogOptions), without the feature gate PodLogsQuerySplitStreams.
func validateLogOptions(o *corev1.PodLogOptions) field.ErrorList {
	errs := check.Naturals(nil, "tailLines", o.TailLines)
	positive := func(name string, n *int64) {
		errs = append(errs, check.Reject(n != nil && *n < 1, field.NewPath(name), n, "must be greater than 0")...)
	}
	positive("limitBytes", o.LimitBytes)
	if o.SinceSeconds != nil && o.SinceTime != nil {
		errs = append(errs,
			field.Forbidden(field.NewPath(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
	} else {
		positive("sinceSeconds", o.SinceSeconds)
	}
	return append(errs, check.Forbid(o.Stream != nil, field.NewPath("stream"), "may not be specified")...)
}
