// Package blobs keeps large data by opaque ids, apart for each tenant: in memory
// ([NewMemory]), in a directory ([OpenDirectory]) or in files of another kind ([OpenFiles]).
// Another store implements [Store] and passes the suite of blobstest.
package blobs
