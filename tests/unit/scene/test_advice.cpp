// Advice on layers that meet what implicit steps move.

#include "weft/deck/read.hpp"
#include "weft/scene/advice.hpp"
#include "weft/scene/build.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr const char* beginning =
    "weft: 1\ndomain: {dx: 0.1}\ntime: {end: 1, frame_interval: 0.1}\n"
    "materials: {soft: {law: fixed_corotated, density: 500, youngs_modulus: 1e4, poisson_ratio: 0.3}}\n"
    "layers: [{name: tools}]\nbodies:\n";

TEST(ImplicitLayerAdviceTest, NamesMaterialsOnOtherLayersThanWhatImplicitStepsMove) {
  const auto block = [](const char* begin, int y) {
    return fmt::format("  - {{{}, mesh: {{block: {{lower: [0, {}.1, 0], upper: [1, {}.9, 1]}}, size: 0.5}}}}\n", begin,
                       y, y);
  };
  const auto ball = [](const char* begin) {
    return fmt::format(
        "  - {{{}, kind: continuum, material: soft, shape: {{sphere: {{center: [0, 3, 0], radius: 0.3}}}}}}\n", begin);
  };
  const std::string plate = block("name: plate, kind: rigid, density: 1000", 0),
                    cube = block("name: cube, kind: solid, material: soft, carrier: own, meets_grid: true", 5),
                    heap = ball("name: heap"), tool = ball("name: tool, layer: tools");
  const auto said = [&](Scheme scheme, const std::string& bodies) {
    Scene scene = build_scene(Comm::world(), parse_deck(fmt::format("{}{}", beginning, bodies), "test.yaml", "."));
    scene.deck.time.scheme = scheme;
    const std::vector<std::string> all = advice_on(Comm::world(), scene);
    return all.empty() ? std::string() : all.at(0);
  };
  const std::string named = said(Scheme::implicit_euler, fmt::format("{}{}{}{}", plate, heap, cube, tool));
  EXPECT_NE(named.find("time.scheme: bodies on other layers (tool) meet"), std::string::npos) << named;
  EXPECT_EQ(said(Scheme::implicit_euler, fmt::format("{}{}{}", plate, heap, cube)), "");
  EXPECT_EQ(said(Scheme::explicit_euler, fmt::format("{}{}", plate, heap)), "");
  EXPECT_EQ(said(Scheme::implicit_euler, plate), "");
  EXPECT_EQ(said(Scheme::implicit_euler, heap), "");
}

}  // namespace
}  // namespace weft
