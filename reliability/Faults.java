import java.util.List;

/// What machines do to a server: they stop it, starve it, or end it. Run as attacks are.
final class Faults {

  private Faults() {}

  static List<Attacks.Case> all() {
    return List.of();
  }
}
