package service

// What the tests of services see.
var (
	NodePorts = nodePorts
	AddPorts  = addPorts
)
