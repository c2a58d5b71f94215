package sandbox

// Names for the tests outside the package.

const WorkspaceAt = workspaceAt
