package blobstore

import (
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// uploadInParts makes the client of S3 send large content in parts from the beginning, instead
// of collecting 16 MiB first. It does nothing for other buckets.
func (s *Store) uploadInParts(as func(any) bool) error {
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
