package dev.berth.code;

import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.constantpool.MethodRefEntry;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.function.Function;
import java.util.stream.StreamSupport;

/// Thrown where a hook calls `System.exit`, `Runtime.exit` or `Runtime.halt`: one request must not end the process that
/// answers the others. An error and not an exception, so that a hook's `catch (Exception e)` does not swallow it.
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

  /// The class with its calls replaced; the same bytes where it has none.
  ///
  /// @param resources gives the bytes of a class by its file name, or null
  static byte[] in(byte[] bytes, Function<String, InputStream> resources) {
    var file = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(
        (ClassDesc type) -> resources.apply(fileName(type))).orElse(ClassHierarchyResolver.defaultResolver())));
    var model = file.parse(bytes);
    boolean none = StreamSupport.stream(model.constantPool().spliterator(), false)
        .noneMatch(entry -> entry instanceof MethodRefEntry method && isExit(method));
    return none ? bytes : file.transformClass(model, ClassTransform.transformingMethodBodies((code, element) -> {
      switch (element) {
        case InvokeInstruction call when call.method() instanceof MethodRefEntry method && isExit(method) ->
            code.invokestatic(THIS, "exit", call.opcode() == Opcode.INVOKESTATIC ? STATUS : RUNTIME_AND_STATUS);
        default -> code.with(element);
      }
    }));
  }

  private static boolean isExit(MethodRefEntry method) {
    var name = method.name().stringValue();
    return switch (method.owner().asInternalName()) {
      case "java/lang/System" -> name.equals("exit");
      case "java/lang/Runtime" -> name.equals("exit") || name.equals("halt");
      default -> false;
    };
  }

  private static String fileName(ClassDesc type) {
    var descriptor = type.descriptorString();
    return descriptor.substring(1, descriptor.length() - 1) + ".class";
  }
}
