import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/// Adds the JDK and the packages of Debian to the list of jars that Maven has made, so that one
/// file says what an image holds.
///
/// `java BillOfMaterials.java BILL RELEASE STATUS`, where BILL is CycloneDX and changed in place,
/// RELEASE the file of that name in the JDK, and STATUS the directory with dpkg's record of each
/// package.
final class BillOfMaterials {

    private static final JsonMapper JSON = new JsonMapper();

    public static void main(String[] arguments) throws IOException {
        var bill = Path.of(arguments[0]);
        var document = (ObjectNode) JSON.readTree(bill.toFile());
        var components = (ArrayNode) document.get("components");
        addJava(components, fields(Path.of(arguments[1]), "="));
        try (var records = Files.list(Path.of(arguments[2]))) {
            for (var record : records.sorted().toList()) {
                addPackage(components, fields(record, ": "));
            }
        }
        JSON.writerWithDefaultPrettyPrinter().writeValue(bill.toFile(), document);
    }

    private static void addJava(ArrayNode components, Map<String, String> release) {
        var version = need(release, "JAVA_RUNTIME_VERSION");
        add(components, "platform", "openjdk", version, "pkg:generic/openjdk@" + version.replace("+", "%2B"))
                .put("publisher", need(release, "IMPLEMENTOR"))
                .put("cpe", "cpe:2.3:a:oracle:openjdk:%s:*:*:*:*:*:*:*".formatted(need(release, "JAVA_VERSION")));
    }

    private static void addPackage(ArrayNode components, Map<String, String> record) {
        var name = need(record, "Package");
        var version = need(record, "Version");
        var purl = "pkg:deb/debian/%s@%s?arch=%s&distro=debian-12"
                .formatted(
                        name.replace("+", "%2B"),
                        version.replace("+", "%2B").replace(":", "%3A"),
                        need(record, "Architecture"));
        add(components, "library", name, version, purl).put("publisher", need(record, "Maintainer"));
    }

    private static ObjectNode add(ArrayNode components, String type, String name, String version, String purl) {
        return components
                .addObject()
                .put("type", type)
                .put("bom-ref", purl)
                .put("name", name)
                .put("version", version)
                .put("purl", purl);
    }

    private static String need(Map<String, String> fields, String name) {
        var value = fields.get(name);
        if (value == null) {
            throw new IllegalArgumentException("found no %s among %s".formatted(name, fields.keySet()));
        }
        return value;
    }

    private static Map<String, String> fields(Path file, String separator) throws IOException {
        var fields = new HashMap<String, String>();
        for (var line : Files.readAllLines(file)) {
            int at = line.indexOf(separator);
            if (at > 0 && line.charAt(0) != ' ') {
                fields.put(
                        line.substring(0, at),
                        line.substring(at + separator.length()).replace("\"", ""));
            }
        }
        return fields;
    }
}
