package envtest
