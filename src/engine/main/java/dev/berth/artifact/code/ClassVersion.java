package dev.berth.artifact.code;

import java.lang.classfile.ClassFile;
import java.nio.ByteBuffer;

/// For which Java a class was compiled, as the head of its file has it: JVMS §4.1.
final class ClassVersion {

    private static final int HEAD = 8;
    private static final int MAGIC = 0xCAFEBABE;
    private static final int MINOR = 4;
    private static final int MAJOR = 6;
    private static final int OF_JAVA_0 = 44;

    private ClassVersion() {}

    /// @param file where the class comes from
    /// @throws UnsupportedClassVersionError when this JVM does not run it, with what to do
    static void check(String name, byte[] bytes, String file) {
        if (bytes.length < HEAD || ByteBuffer.wrap(bytes).getInt() != MAGIC) {
            // The JVM says what is wrong with it.
            return;
        }
        int major = Short.toUnsignedInt(ByteBuffer.wrap(bytes).getShort(MAJOR));
        int minor = Short.toUnsignedInt(ByteBuffer.wrap(bytes).getShort(MINOR));
        int most = ClassFile.latestMajorVersion();
        if (major > most) {
            throw new UnsupportedClassVersionError(
                    "%s: class %s: found a class for Java %d, expected one for Java %d at most; "
                            .concat("compile it with --release %4$d")
                            .formatted(file, name, major - OF_JAVA_0, most - OF_JAVA_0));
        }
        if (minor == ClassFile.PREVIEW_MINOR_VERSION) {
            throw new UnsupportedClassVersionError(
                    "%s: class %s: found a class that was compiled with --enable-preview, which the "
                            .concat("server does not allow; compile it without")
                            .formatted(file, name));
        }
    }
}
