// Suggestions and the order of complaints.

#include "deck/messages.hpp"

#include "weft/base/error.hpp"

#include <gtest/gtest.h>

namespace weft::deck {
namespace {

TEST(EditDistanceTest, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("density", "density"), 0);
  EXPECT_EQ(edit_distance("densty", "density"), 1);
  EXPECT_EQ(edit_distance("dennsity", "density"), 1);
  EXPECT_EQ(edit_distance("denzity", "density"), 1);
  EXPECT_EQ(edit_distance("desnity", "density"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(NearestTest, IsTheWordWithTheFewestEditsOrNoneIfAllAreFar) {
  const std::vector<std::string> words{"friction", "friction_angle", "q", "from", "form"};
  EXPECT_EQ(nearest("frictoin", words), "friction");
  EXPECT_EQ(nearest("friction_angel", words), "friction_angle");
  EXPECT_EQ(nearest("frm", words), "from") << "the first of equals";
  EXPECT_EQ(nearest("w", words), "q");
  EXPECT_EQ(nearest("temperature", words), "");
  EXPECT_EQ(nearest("", words), "q");
}

TEST(ReportTest, ComplaintsLeaveTogetherInTheOrderOfTheirPlacesOverridesLast) {
  Report report("d.yaml");
  EXPECT_NO_THROW(report.throw_if_any());
  report.add({report.add_source("--set time.end")}, "time.end", "set");
  report.add({0, 10, 1}, "c", "third");
  report.add({0, 2, 7}, "b", "second");
  report.add({0, 2, 3}, "", "first");
  try {
    report.throw_if_any();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::deck);
    EXPECT_STREQ(error.what(), "d.yaml:2:3: first\nd.yaml:2:7: b: second\nd.yaml:10:1: c: third\n--set time.end: set");
  }
}

TEST(ShownTest, TextsInMessagesAreShortAndHarmless) {
  EXPECT_EQ(shown("abc"), "\"abc\"");
  EXPECT_EQ(shown("a\n\x1b[31m"), "\"a  [31m\"");
  EXPECT_EQ(shown(std::string(1000, 'x')), "\"" + std::string(60, 'x') + "...\"");
  EXPECT_EQ(shown(std::string(59, 'x') + "\u00e9\u00e9"), "\"" + std::string(59, 'x') + "...\"")
      << "letters stay whole";
}

}  // namespace
}  // namespace weft::deck
