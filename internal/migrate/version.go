package migrate

// version is that of the engine's source, and so of this program.
const version = "0.3.0"

// Version returns the version of the engine that this program installs.
func Version() string { return version }
