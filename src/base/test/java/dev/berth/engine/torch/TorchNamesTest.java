package dev.berth.engine.torch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.engine.GraphNames;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Code as PyTorch 2.13 writes it into a file.
class TorchNamesTest {

    @TempDir
    private Path directory;

    @Test
    void aDictThatIsReturnedHasNames() throws IOException {
        assertThat(names("x: Tensor", "Dict[str, Tensor]", "    return {\"b\": torch.add(x, {\"no\": 1}), \"a\": x}\n")
                        .outputNames())
                .containsExactly("a", "b");
    }

    @Test
    void aParameterWithADefaultIsNotRequired() throws IOException {
        var names = names(
                "left: Tensor,\n    pair: Tuple[Tensor, Tensor],\n    right: Optional[Tensor]=None,\n    n: int=3",
                "Tensor",
                "    return left\n");
        assertThat(names.inputNames()).containsExactly("left", "pair", "right", "n");
        assertThat(names.required()).isEqualTo(2);
        assertThat(names.outputs()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      x: Tensor                              | Tensor                  |
      x: Optional[Tensor], n: int=3          | Tuple[Tensor, List[Tensor]] |
      x: Union[int, Tensor]                  | Dict[str, Tensor]       |
      x: Any                                 | Optional[Tensor]        |
      x: Tensor                              | __torch__.Out           |
      x: Dict[str, Tensor]                   | Tensor                  | takes x: Dict[str, Tensor]
      x: Tensor, y: Tuple[Dict[str, Tensor]] | Tensor                  | takes y: Tuple[Dict[str, Tensor]]
      x: List[Tensor]                        | Tensor                  | takes x: List[Tensor]
      x: Tensor, n: int                      | Tensor                  | takes n: int
                                             | Tensor                  | takes nothing
      x: Tensor                              | Tuple[Tensor, NoneType] | returns Tuple[Tensor, NoneType]
      x: Tensor                              | float                   | returns float
      """)
    void whatIsNoTensorIsSaid(String parameters, String type, String misfit) throws IOException {
        assertThat(names(parameters, type, "    return x\n").misfit()).isEqualTo(Optional.ofNullable(misfit));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "if b:\n      _0 = {\"a\": x}\n    else:\n      _0 = {\"b\": x}\n    return _0",
                "out = {\"a\": x}\n    torch._set_item(out, \"b\", x)\n    return out",
                "return (self.inner).forward(x, )",
                "return {\"a\\\"\": x}",
                "return {\"a\": x, \"b",
                "return (self.inner).forward(x, )\n  def other(self: __torch__.Net) -> Dict[str, Tensor]:\n    return {\"a\": x}"
            })
    void aDictThatABranchACallOrALaterStatementMakesIsNotGuessed(String body) throws IOException {
        assertThat(names("x: Tensor", "Dict[str, Tensor]", "    %s\n".formatted(body))
                        .outputNames())
                .isEmpty();
    }

    private GraphNames names(String parameters, String type, String body) throws IOException {
        var file = directory.resolve("model.pt");
        try (var zip = new ZipOutputStream(Files.newOutputStream(file))) {
            zip.putNextEntry(new ZipEntry("archive/data.pkl"));
            zip.write("\u0080\u0002c__torch__\nNet\n".getBytes(StandardCharsets.ISO_8859_1));
            zip.putNextEntry(new ZipEntry("archive/code/__torch__.py"));
            var code = "class Net(Module):\n  def forward(self: __torch__.Net%s) -> %s:\n%s"
                    .formatted(parameters == null ? "" : ",\n    " + parameters, type, body);
            zip.write(code.getBytes(StandardCharsets.ISO_8859_1));
        }
        return TorchNames.of(file);
    }
}
