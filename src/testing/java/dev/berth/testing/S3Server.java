package dev.berth.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Object;

/// A server of S3's protocol on a free port of the loopback interface, S3Proxy, which keeps its
/// objects in memory and checks signatures. Tests look into it past the protocol.
public final class S3Server implements AutoCloseable {

    private static final String IDENTITY = "berth";
    private static final String SECRET = "a secret of tests";

    private final BlobStore store = new TransientNio2BlobStore();
    private final S3Proxy proxy;

    static {
        ((Logger) LoggerFactory.getLogger("org.gaul")).setLevel(Level.WARN);
    }

    private S3Server(AuthenticationType authentication) throws Exception {
        proxy = S3Proxy.builder()
                .blobStore(store)
                .endpoint(URI.create("http://127.0.0.1:0"))
                .awsAuthentication(authentication, IDENTITY, SECRET)
                // Jetty's threads wait for slow clients; the default is 200.
                .jettyMaxThreads(40)
                .stopTimeout(0)
                .build();
        proxy.start();
    }

    /// A server that wants signed requests. The default chain of this process finds its credentials.
    public static S3Server start() throws Exception {
        credentials().forEach(credential -> System.setProperty(credential.name, credential.value));
        return new S3Server(AuthenticationType.AWS_V4);
    }

    /// A server that asks nobody who they are.
    public static S3Server startPublic() throws Exception {
        return new S3Server(AuthenticationType.NONE);
    }

    /// A system property of the default chain.
    public record Credential(String name, String value) {}

    /// The credentials of [#start], for other processes.
    public static List<Credential> credentials() {
        return List.of(new Credential("aws.accessKeyId", IDENTITY), new Credential("aws.secretAccessKey", SECRET));
    }

    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + proxy.getPort());
    }

    public S3Server createBucket(String bucket) {
        store.createContainer(bucket);
        return this;
    }

    public S3Server put(String bucket, String key, byte[] bytes) {
        var request = PutObjectRequest.builder()
                .bucket(bucket)
                .key(key)
                .contentLength((long) bytes.length)
                .build();
        store.putBlob(request, new ByteArrayInputStream(bytes));
        return this;
    }

    public S3Server put(String bucket, String key, String text) {
        return put(bucket, key, text.getBytes(StandardCharsets.UTF_8));
    }

    public byte[] bytes(String bucket, String key) {
        try (var blob = store.getBlob(bucket, key)) {
            return blob.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String text(String bucket, String key) {
        return new String(bytes(bucket, key), StandardCharsets.UTF_8);
    }

    public String contentType(String bucket, String key) {
        return store.blobMetadata(bucket, key).contentType();
    }

    public String etag(String bucket, String key) {
        return store.blobMetadata(bucket, key).eTag();
    }

    /// All keys of a bucket, in order.
    public List<String> keys(String bucket) {
        var keys = new ArrayList<String>();
        ListObjectsV2Response page = null;
        do {
            var token = page == null ? null : page.nextContinuationToken();
            page = store.list(ListObjectsV2Request.builder()
                    .bucket(bucket)
                    .continuationToken(token)
                    .build());
            page.contents().stream().map(S3Object::key).forEach(keys::add);
        } while (page.isTruncated());
        return keys;
    }

    /// The texts of the objects below a prefix, by what follows it.
    public Map<String, String> texts(String bucket, String prefix) {
        var texts = new TreeMap<String, String>();
        keys(bucket).stream()
                .filter(key -> key.startsWith(prefix))
                .forEach(key -> texts.put(key.substring(prefix.length()), text(bucket, key)));
        return texts;
    }

    /// The keys of the uploads in parts that have neither been completed nor aborted.
    public List<String> unfinishedUploads(String bucket) {
        return store.listMultipartUploads(bucket).stream()
                .map(MultipartUpload::key)
                .toList();
    }

    @Override
    public void close() throws Exception {
        proxy.stop();
        store.close();
    }
}
