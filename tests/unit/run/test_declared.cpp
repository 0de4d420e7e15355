#include "run/columns.hpp"
#include "run/declared.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace weft {
namespace {

struct Spring {
  Real length = 0;
  Vec3 pull = Vec3::Zero();
};
struct Mattress : Spring {
  std::string name;
  std::uint64_t id = 0;
  std::vector<Spring> springs;
  std::optional<Real> age;
};

}  // namespace

template <>
inline constexpr auto members<Spring> =
    std::tuple{Member{"length", "m", &Spring::length}, Member{"pull", "N", &Spring::pull}};
template <>
inline constexpr auto members<Mattress> = std::tuple_cat(
    members<Spring>, std::tuple{Member{"name", "", &Mattress::name}, Member{"id", "", &Mattress::id},
                                Member{"springs", "", &Mattress::springs}, Member{"age", "s", &Mattress::age}});

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

Mattress read_back(const Mattress& mattress) {
  Mattress back;
  from_json_to(nlohmann::json::parse(as_json(mattress).dump()), back);
  return back;
}

TEST(DeclaredTest, JsonHoldsEveryBitOfEveryKindOfMember) {
  Mattress mattress;
  mattress.length = 0.1 + 0.2;
  mattress.pull = Vec3(-0.0, 1e-300, -1 / 3.0);
  mattress.name = "blue";
  mattress.id = 9007199254740993ull;  // not a double
  mattress.springs.resize(2);
  mattress.springs[1].length = 1 / 7.0;
  mattress.age = 1 / 11.0;
  const Mattress back = read_back(mattress);
  EXPECT_EQ(back.length, mattress.length);
  EXPECT_EQ(back.pull, mattress.pull);
  EXPECT_TRUE(std::signbit(back.pull.x()));
  EXPECT_EQ(back.name, "blue");
  EXPECT_EQ(back.id, mattress.id);
  ASSERT_EQ(back.springs.size(), 2u);
  EXPECT_EQ(back.springs[1].length, 1 / 7.0);
  EXPECT_EQ(back.age, mattress.age);
}

TEST(DeclaredTest, NumbersThatAreNotFiniteAndAbsentValuesSurvive) {
  Mattress mattress;
  mattress.length = -infinity;
  mattress.pull = Vec3(infinity, std::nan(""), 0);
  const Mattress back = read_back(mattress);
  EXPECT_EQ(back.length, -infinity);
  EXPECT_EQ(back.pull.x(), infinity);
  EXPECT_TRUE(std::isnan(back.pull.y()));
  EXPECT_FALSE(back.age);
  EXPECT_TRUE(back.springs.empty());
}

TEST(DeclaredTest, OnlyAbsentValuesMayBeMissing) {
  nlohmann::json j = as_json(Mattress{});
  Mattress back;
  j.erase("age");
  EXPECT_NO_THROW(from_json_to(j, back));
  for (const char* key : {"length", "id", "springs"}) {
    nlohmann::json less = j;
    less.erase(key);
    EXPECT_THROW(from_json_to(less, back), nlohmann::json::exception) << key;
  }
  j["springs"] = "two";
  EXPECT_THROW(from_json_to(j, back), nlohmann::json::exception);
}

TEST(ColumnsTest, EachColumnHasItsNumberAndVectorsTakeThree) {
  constexpr auto row = member_of<Spring>(&Spring::pull);
  EXPECT_STREQ(row.unit, "N");
  Columns<Mattress> columns;
  columns.add("count", "", [](const Mattress& m) { return m.springs.size(); });
  columns.add_all<Spring>([](const Mattress& m) -> const Spring& { return m; });
  columns.add(member_of<Spring>(&Spring::length), [](const Mattress& m) -> const Spring& { return m.springs[0]; });
  std::vector<std::string> names;
  for (const HistoryColumn& column : columns.names()) names.push_back(column.name + " " + column.unit);
  EXPECT_EQ(names, (std::vector<std::string>{"count ", "length m", "pull_x N", "pull_y N", "pull_z N", "length m"}));
  Mattress mattress;
  mattress.length = 2;
  mattress.pull = Vec3(3, 4, 5);
  mattress.springs.push_back({6, Vec3::Zero()});
  EXPECT_EQ(columns.row(mattress), (std::vector<Real>{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace weft
