// Package blobs keeps large data by opaque ids, apart for each tenant: in memory
// ([Memory]) or in a directory ([Directory]). Another store implements [Store] and
// passes blobstest.
package blobs
