/// S3, or a server that speaks its protocol, as a store. Only here is the AWS SDK touched.
package dev.berth.storage.s3;
