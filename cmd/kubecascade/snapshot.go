package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/internal/backup"
)

func snapshotCommand() *cobra.Command {
	return parent(&cobra.Command{
		Use: "snapshot", Short: "Save a snapshot of a kubecascade server, or inspect one of any cluster",
	}, "there are save and inspect", saveCommand(), inspectCommand())
}

// oneFile returns an error unless the arguments are one file.
func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errUsage{fmt.Errorf("name one FILE, not %d", len(args))}
	}
	return nil
}

func saveCommand() *cobra.Command {
	var from connection
	c := &cobra.Command{
		Use:   "save FILE",
		Short: "Save a snapshot of a kubecascade server",
		Long: `Save all that a kubecascade server has stored to a file, as "etcdctl snapshot save" does: the database of
etcd with its history, and a hash. "serve --from-snapshot" serves it. "etcdutl snapshot restore" creates an
etcd data directory from it, also for kube-apiserver. The server continues to serve requests. With - as FILE, the
snapshot goes to standard output, after it was checked, and messages to standard error.`,
		Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			if err := from.dial(); err != nil {
				return err
			}
			if args[0] == "-" {
				return unable(backup.Send(c.Context(), from.client, c.OutOrStdout(), c.ErrOrStderr()))
			}
			return unable(backup.Save(c.Context(), from.client, args[0], c.OutOrStdout()))
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	from.access(c)
	return c
}

func inspectCommand() *cobra.Command {
	var o backup.Options
	var output string
	c := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Describe an etcd snapshot",
		Long: `Describe a snapshot of etcd, as "etcdctl snapshot save" writes it, or the database of a data
directory that no running etcd uses: the revision, whether the hash matches, the objects by type and namespace,
the largest ones, and those that can't be read, with the reason. The file is only read.`,
		Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := backup.Inspect(c.Context(), args[0], o)
			if err != nil {
				return errUnable{err}
			}
			return r.Print(c.OutOrStdout(), output == "json")
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	outputFlag(c, &output, "text", "json")
	c.Flags().StringVar(&o.EncryptionFile, "encryption-provider-config", "", backup.EncryptionUsage)
	c.Flags().StringVar(&o.Prefix, "etcd-prefix", "", "prefix of the cluster's keys (default: detected from namespaces)")
	return c
}
