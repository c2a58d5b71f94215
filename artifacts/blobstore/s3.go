package blobstore

import (
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// inParts lets the client of S3 send large content in parts from its beginning on, where it
// would collect 16 MiB first. Other buckets have no such client.
func (s *Store) inParts(as func(any) bool) error {
	var uploads *transfermanager.Client
	var client *s3.Client
	if as(&uploads) && s.bucket.As(&client) {
		*uploads = *transfermanager.New(client, func(o *transfermanager.Options) {
			o.PartSizeBytes, o.MultipartUploadThreshold, o.Concurrency = int64(partBytes), int64(partBytes), 1
			o.RequestChecksumCalculation = client.Options().RequestChecksumCalculation
		})
	}
	return nil
}
