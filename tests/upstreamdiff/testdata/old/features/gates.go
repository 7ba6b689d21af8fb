// Package features is a package of one of two minors that are compared.
package features

var gates = map[featuregate.Feature]featuregate.VersionedSpecs{
	Same: {{Version: version.MustParse("1.30"), Default: true, PreRelease: featuregate.Beta}},
	Moved: {
		{Version: version.MustParse("1.35"), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MustParse("1.37"), Default: true, PreRelease: featuregate.GA, LockToDefault: true},
	},
}

func check() error { return fmt.Errorf("the old text: %w", err) }
