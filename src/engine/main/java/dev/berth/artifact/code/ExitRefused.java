package dev.berth.artifact.code;

import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassHierarchyResolver.ClassHierarchyInfo;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.constantpool.MethodRefEntry;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicCallSiteDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.function.Function;
import java.util.stream.StreamSupport;

/// Thrown where a hook calls `System.exit`, `Runtime.exit` or `Runtime.halt`: one request must not
/// end the process that answers the others. An error and not an exception, so that a hook's `catch
/// (Exception e)` does not swallow it.
public final class ExitRefused extends Error {

    private static final ClassDesc THIS = ExitRefused.class.describeConstable().orElseThrow();
    private static final ClassDesc RUNTIME = Runtime.class.describeConstable().orElseThrow();
    private static final MethodTypeDesc STATUS = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);
    private static final MethodTypeDesc RUNTIME_AND_STATUS =
            MethodTypeDesc.of(ConstantDescs.CD_void, RUNTIME, ConstantDescs.CD_int);

    private ExitRefused(int status) {
        super("it called exit(%d), which would have ended the server".formatted(status));
    }

    /// Called in place of `System.exit(status)`.
    public static void exit(int status) {
        throw new ExitRefused(status);
    }

    /// Called in place of `runtime.exit(status)` and `runtime.halt(status)`.
    public static void exit(Runtime runtime, int status) {
        throw new ExitRefused(status);
    }

    /// The class with its calls and its method references replaced; the same bytes where it has none.
    /// Reflection is not looked into.
    ///
    /// @param resources gives the bytes of a class by its file name, or null
    /// @throws RuntimeException when one that has some can't be written again
    static byte[] in(byte[] bytes, Function<String, InputStream> resources) {
        var hierarchy = ClassHierarchyResolver.ofResourceParsing((ClassDesc type) -> resources.apply(fileName(type)))
                .orElse(ClassHierarchyResolver.defaultResolver())
                // A library may do without classes that it names. Where the verifier does too, any
                // parent is right.
                .orElse(_ -> ClassHierarchyInfo.ofClass(ConstantDescs.CD_Object));
        var file = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(hierarchy));
        ClassModel model;
        try {
            model = file.parse(bytes);
        } catch (IllegalArgumentException _) {
            // The JVM says what is wrong with it.
            return bytes;
        }
        boolean none = StreamSupport.stream(model.constantPool().spliterator(), false)
                .noneMatch(entry -> entry instanceof MethodRefEntry method && isExit(method));
        return none
                ? bytes
                : file.transformClass(model, ClassTransform.transformingMethodBodies((code, element) -> {
                    switch (element) {
                        case InvokeInstruction call
                        when call.method() instanceof MethodRefEntry method && isExit(method) ->
                            code.invokestatic(
                                    THIS, "exit", call.opcode() == Opcode.INVOKESTATIC ? STATUS : RUNTIME_AND_STATUS);
                        case InvokeDynamicInstruction call ->
                            code.invokedynamic(DynamicCallSiteDesc.of(
                                    call.bootstrapMethod(),
                                    call.name().stringValue(),
                                    call.typeSymbol(),
                                    call.bootstrapArgs().stream()
                                            .map(ExitRefused::refused)
                                            .toArray(ConstantDesc[]::new)));
                        default -> code.with(element);
                    }
                }));
    }

    /// `System::exit` stands in the class as a method handle.
    private static ConstantDesc refused(ConstantDesc argument) {
        if (argument instanceof DirectMethodHandleDesc method
                && isExit(internalName(method.owner()), method.methodName())) {
            var type = method.kind() == DirectMethodHandleDesc.Kind.STATIC ? STATUS : RUNTIME_AND_STATUS;
            return MethodHandleDesc.ofMethod(DirectMethodHandleDesc.Kind.STATIC, THIS, "exit", type);
        }
        return argument;
    }

    private static boolean isExit(MethodRefEntry method) {
        return isExit(method.owner().asInternalName(), method.name().stringValue());
    }

    private static boolean isExit(String owner, String name) {
        return switch (owner) {
            case "java/lang/System" -> name.equals("exit");
            case "java/lang/Runtime" -> name.equals("exit") || name.equals("halt");
            default -> false;
        };
    }

    private static String fileName(ClassDesc type) {
        return internalName(type) + ".class";
    }

    private static String internalName(ClassDesc type) {
        var descriptor = type.descriptorString();
        return descriptor.substring(1, descriptor.length() - 1);
    }
}
