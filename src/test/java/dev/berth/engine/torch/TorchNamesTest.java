package dev.berth.engine.torch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.engine.GraphNames;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Code as PyTorch 2.13 writes it into a file.
class TorchNamesTest {

  @TempDir private Path directory;

  @Test
  void aDictThatIsReturnedHasNames() throws IOException {
    assertThat(TorchNames.of(Path.of("src/test/resources/torchscript/sum-and-product.pt")))
        .isEqualTo(new GraphNames(List.of("left", "right"), 2, List.of("product", "sum")));
    assertThat(
            names(
                    "x: Tensor",
                    "Dict[str, Tensor]",
                    "    return {\"b\": torch.add(x, {\"no\": 1}), \"a\": x}\n")
                .outputs())
        .containsExactly("a", "b");
  }

  @Test
  void aTupleHasNone() {
    assertThat(TorchNames.of(Path.of("src/test/resources/torchscript/echo.pt")))
        .isEqualTo(
            new GraphNames(List.of("input_ids", "attention_mask", "token_type_ids"), 3, List.of()));
  }

  @Test
  void aParameterWithADefaultIsNotRequired() throws IOException {
    var names =
        names(
            "left: Tensor,\n    pair: Tuple[Tensor, Tensor],\n    right: Optional[Tensor]=None,\n    n: int=3",
            "Tensor",
            "    return left\n");
    assertThat(names)
        .isEqualTo(new GraphNames(List.of("left", "pair", "right", "n"), 2, List.of()));
  }

  @Test
  void aDictThatABranchACallOrALaterStatementMakesIsNotGuessed() throws IOException {
    var dict = "Dict[str, Tensor]";
    assertThat(
            names(
                    "x: Tensor",
                    dict,
                    "    if b:\n      _0 = {\"a\": x}\n    else:\n      _0 = {\"b\": x}\n    return _0\n")
                .outputs())
        .isEmpty();
    assertThat(
            names(
                    "x: Tensor",
                    dict,
                    "    out = {\"a\": x}\n    torch._set_item(out, \"b\", x)\n    return out\n")
                .outputs())
        .isEmpty();
    assertThat(names("x: Tensor", dict, "    return (self.inner).forward(x, )\n").outputs())
        .isEmpty();
    assertThat(names("x: Tensor", dict, "    return {\"a\\\"\": x}\n").outputs()).isEmpty();
    assertThat(
            names(
                    "x: Tensor",
                    dict,
                    "    return (self.inner).forward(x, )\n  def other(self: __torch__.Net) -> "
                        + "Dict[str, Tensor]:\n    return {\"a\": x}\n")
                .outputs())
        .isEmpty();
  }

  @Test
  void aFileThatIsNoZipHasNone() throws IOException {
    assertThat(TorchNames.of(Files.writeString(directory.resolve("model.pt"), "none")))
        .isEqualTo(GraphNames.UNKNOWN);
  }

  private GraphNames names(String parameters, String type, String body) throws IOException {
    var file = directory.resolve("model.pt");
    try (var zip = new ZipOutputStream(Files.newOutputStream(file))) {
      zip.putNextEntry(new ZipEntry("archive/data.pkl"));
      zip.write("\u0080\u0002c__torch__\nNet\n".getBytes(StandardCharsets.ISO_8859_1));
      zip.putNextEntry(new ZipEntry("archive/code/__torch__.py"));
      var code =
          "class Net(Module):\n  def forward(self: __torch__.Net,\n    %s) -> %s:\n%s"
              .formatted(parameters, type, body);
      zip.write(code.getBytes(StandardCharsets.ISO_8859_1));
    }
    return TorchNames.of(file);
  }
}
