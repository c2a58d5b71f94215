package mcp

// Names for the tests outside the package.

type DirectoryParams = directoryParams

type DirectoryResult = directoryResult

const Extension = extension

type GetParams = getParams

type GetResult = getResult

type ListParams = listParams

type ListResult = listResult

type Resource = resource
