#pragma once
// Contact of points with walls in explicit steps, where the surface of the material is and not at nodes.
//
// A point p touches a wall with the end of an ellipsoid about it: B is the tensor of its squared half axes, n the
// normal of the wall, so that
//     r = sqrt(n . B n),   gap g = phi - r,   x_c = x_p + o,  o = -B n / r                                       (6.1)
// The wall's force on it is that of a stiff spring, f_n = -k g, and of a Coulomb spring beside it, |f_t| <= friction
// f_n. It acts on nodes with the weights
//     W_i = w_ip + G_ip . o,   sum_i W_i = 1,   sum_i W_i x_i = x_c                                              (6.3)
// so that impulse and torque of the wall are exact about any point. Only this force is taken implicitly: with the
// velocities v_i after all others, the impulses of the last step among them,
//     u = sum_i W_i v_i - v_wall(x_c),   a = sum_i |W_i| S_i / m_i,   S_i = sum_q |W_iq|,   s = 1 / (k dt^2)
//     l_n' = max(0, l_n - (u_n + g / dt + s l_n) / (a + s))
//     l_t' = l_t - (u_t + s_t (l_t - l_t before)) / (a + s_t),   |l_t'| <= friction l_n'                     (6.4-6)
//     v_i += W_i (l' - l) / m_i
// for all points at once: a bounds the sums of rows, so passes contract. Bodies that rebound are hit where they first
// touch, by Poisson's law. [docs/theory/colliders.md, 6; docs/theory/rigid.md, 17.3]

#include "weft/bodies/contact_points.hpp"
#include "weft/grid/walls.hpp"
#include "weft/transfer/transfer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/// What contacts share at nodes: their number weighted by |W|, then that per mass; their impulses.
struct NodeContact : NodeKey {
  static constexpr Label label{"contact", "1, 1/kg, kg m/s", Keep::work};
};

/// Of the ellipsoids of points at rest, at least the largest half axis [m].
Real largest_half_axis(const PointSet& points);

/// How fast gaps close that no force explains, where walls push, where they push what they hold, and where they pull
/// [m/s].
struct WallClosing {
  Real pushed, pushed_where_held, drawn;
};

/// A set of points that touches walls.
struct TouchingSet {
  PointSet* points;
  const Bins* bins;
  Real frequency;  ///< Of the fastest vibration of its body [rad/s].
  Real speed;      ///< Of its fastest point [m/s].
  Real reach;      ///< Of no point the surface is further from its middle than this [m].
  /// Of a body that moves as a whole, in place of what the masses of points and the frequency say.
  struct Whole {
    Real stiffness;  ///< Of the springs of each contact, along the wall too [N/m].
    Real closing;    ///< How fast gaps close that no force explains [m/s].
    /// R - 1, by which it turns about its centre in the step: walls act where its points come to be.
    Mat3 turn = Mat3::Zero();
    Vec3 centre = Vec3::Zero();  ///< [m].
  };
  std::optional<Whole> whole = {};
  /// Of a body that rebounds.
  struct Rebound {
    Real restitution;
    Real slowest_hit;  ///< What approaches more slowly does not rebound [m/s].
  };
  std::optional<Rebound> rebound = {};
  /// Of a row, whether something else leads the point, so that walls let it pass; empty: nothing leads any.
  std::function<bool(std::uint32_t)> is_led = {};
  /// Of a row, whether the surface there faces this way (unit), so that a wall may touch it; empty: points face all
  /// ways.
  std::function<bool(std::uint32_t, const Vec3&)> faces = {};
  /// Steps are so short that forces hardly change velocities in one.
  bool is_foreseen = false;
  Real gained = 0;  ///< Speed that gravity gives to points in the step [m/s].
};

/// Points with four reals each on which contacts act: the nodes of a layer, or the vertices of a body.
struct ContactGround {
  const Forest* forest;
  std::ptrdiff_t owned;  ///< Points; a row of the forest has one or more.
  const Real* inertia;   ///< The mass of each, and three more reals.
  ColumnView velocity;   ///< Three reals of each.
  ColumnView shared;     ///< See NodeContact.
  int passes;            ///< Of (6.4-6), at most.
  /// Ranks that agree on whether passes have come to an end; null: all passes are made. Bodies by themselves have no
  /// viscosity of the grid that would forgive a few.
  const Comm* agree = nullptr;
  /// Changes the velocities of owned points to what they can be, after each pass, and returns their largest change
  /// since the last, and that by all passes [m/s]; empty: they are free.
  std::function<std::array<Real, 2>()> project = {};

  Real mass(std::ptrdiff_t point) const { return inertia[point * NodeField::width]; }
  Real* velocities() const { return reinterpret_cast<Real*>(velocity.data); }
  Real* shares() const { return reinterpret_cast<Real*>(shared.data); }
};
ContactGround ground_of(const BlockMap& map, Layer& layer);

/// The contacts of the points of one layer, or of one body.
class WallContacts {
 public:
  /// Finds the points that may touch walls in a step from `time` over at most dt [s]. Points stand where it begins;
  /// walls whose contact is at nodes are left out. All ranks do so, and then agree.
  void find(std::span<const Wall> walls, std::span<const TouchingSet> sets, const TransferSettings& transfer, Real time,
            Real dt);
  /// Tells all ranks which of these have contacts on any. Collective.
  static void agree(const Comm& comm, std::span<WallContacts* const> all);
  /// They act on the nodes of a layer,
  void act_on(const BlockMap& map);
  /// or each on up to four vertices, which have so many reals each; of_row: of the points of the only set. Rows of the
  /// forest: vertices.
  void act_on(const std::function<ContactStencil(std::uint32_t)>& of_row, const Forest& forest, int width);
  /// Whether a body rebounds from a wall on this rank, as it was found last.
  bool any_rebounds() const {
    return std::ranges::any_of(contacts_, [](const Contact& contact) { return contact.acts == Acts::by_hit; });
  }
  /// Whether there are contacts on any rank.
  bool any() const { return any_; }
  /// Whether points of this rank have left walls.
  bool lets_go() const { return !left_.empty(); }

  /// The step is tried with this dt [s], or its first part with what goes on by parts. If it is the same dt again,
  /// passes of what is solved to the end begin with the impulses with which they ended.
  void begin(Real dt);
  /// The next part of the step begins, of the same dt: walls and contacts have moved, and contacts remember what they
  /// gave. displacements: of all nodes in the part that ends, rows of what `gathered` takes [m].
  void go_on(const Real* displacements);
  /// Writes what contacts share, with the impulses of the forces of the last step; owners have to be told.
  void scatter(const ContactGround& ground);
  /// Adds the impulses of the last step, which contacts share, to the momentum of owned nodes.
  void add_shared_impulses(Layer& layer) const;
  /// Changes the velocities of owned nodes, which are those of the end of the step but for this. Collective.
  void solve(const ContactGround& ground);
  /// Goes on from what `solve` found, once others have changed these velocities; again so in each pass of a try.
  /// Collective.
  void solve_after_others(const ContactGround& ground);
  /// Adds to by_walls[w] what wall w gave to this rank's points; returns the energy in their springs, the mean of
  /// before and after the step [J].
  Real add_given(Real dt_before, std::span<Impulse> by_walls) const;
  /// The same where an implicit step of h [s] of the contacts' springs has found the motion of all nodes since `begin`,
  /// as numbers that are `unit` [m] each: nothing changes, and the energy is that after the step.
  Real count(const Real* motion, Real unit, Real h, bool is_lagged, std::span<Impulse> by_walls);
  /// Writes the forces of a step that was accepted to the points.
  void keep();

  // One by one, for WallTerm.
  std::size_t size() const { return contacts_.size(); }
  /// Of each contact, as numbers of the first real of a node or vertex, and W_i.
  std::span<const std::int32_t> nodes_of(std::size_t c) const { return std::span(nodes_).subspan(c * each_, each_); }
  int width() const { return width_; }  ///< Reals of a node or vertex.
  std::span<const Real> weights_of(std::size_t c) const { return std::span(weights_).subspan(c * each_, each_); }
  /// The face of a wall, and how far the contact is from it at the start of the step.
  struct Face {
    std::int32_t wall;
    Vec3 normal;
    Real gap;  ///< [m]
  };
  std::uint32_t row(std::size_t c) const { return contacts_[c].row; }    ///< Of its point.
  const Vec3& force(std::size_t c) const { return contacts_[c].force; }  ///< Of the last step, or part of this one [N].
  Face face(std::size_t c) const { return {contacts_[c].wall, contacts_[c].normal, contacts_[c].gap}; }
  const Vec3& position(std::size_t c) const { return contacts_[c].x; }       ///< x_c [m].
  const Vec3& impulse(std::size_t c) const { return contacts_[c].impulse; }  ///< l [kg m/s].
  /// sum_i W_i a_i; rows: of the first component of the first node.
  Vec3 gathered(std::size_t c, const Real* rows) const;
  /// Adds W_i value to the nodes.
  void add(std::size_t c, const Vec3& value, Real* rows) const;
  /// Calls visit(c) for all contacts, on all threads. Those that share nodes have their turns, in the same order
  /// whatever the number of threads.
  template <class Visit>
  void for_each_in_turn(const Visit& visit) const {
    for_each_cube_in_turn([&](const Range& cube) {
      for (std::size_t c = cube.begin; c < cube.end; ++c) visit(c);
    });
  }
  /// What the springs of a contact answer to its displacement in the step; slope = -d(force)/d(displacement).
  struct Pressed {
    Vec3 force;   ///< [N]
    Mat3 slope;   ///< [N/m]
    Real energy;  ///< [J]; of friction only if it is lagged.
  };
  Pressed press(std::size_t c, const Vec3& displacement, bool is_lagged) const;

 private:
  /// What rests on a wall acts by a spring, what hits it without, and what does not touch yet later.
  enum class Acts : std::uint8_t { by_spring, by_hit, later };
  struct Contact {
    std::uint32_t set, row;
    std::int32_t wall;
    Real gap;         ///< At the start of the step [m].
    Real compliance;  ///< 1 / k [m/N].
    Real along;       ///< Compliance along the wall [m/N].
    Vec3 normal, x;   ///< Of the wall; x_c [m].
    Vec3 way;         ///< How far the wall carries x_c in the step [m].
    Vec3 force;       ///< Of the last step [N].
    Vec3 impulse;     ///< l [kg m/s].
    Real parting;     ///< How fast the end of a point of what flows leaves the wall as the step begins [m/s]; else 0.
    PointId face;     ///< The bit of WallFaces.
    bool has_acted;   ///< In the last step.
    bool is_held;     ///< The wall may pull.
    Acts acts;        ///< In the present passes.
  };
  /// Of a contact with a body that rebounds.
  struct Hit {
    Real by_loads;  ///< How fast it closes at the end of a step without hits, less than at its start [m/s].
    bool was_hit;   ///< In this step.
    Real share;     ///< Of the speed of the hit, what it had at the start.
    Real begun;     ///< What the force of the step before gave along the normal [kg m/s].
    Vec3 before;    ///< Impulse up to now [kg m/s].
    Real least;     ///< Of what comes to it along the normal [kg m/s].
    Real allowed;   ///< How fast it may close [m/s].
  };
  /// A wall near a bin, as seen from the middle of the bin.
  struct Near {
    std::int32_t wall;
    bool is_flat, is_convex;
    Faces at_middle;  ///< If it is flat those of all points of the bin, else one.
    Real reach;       ///< Points take part only if they are nearer to the wall than this [m].
  };
  void find_near(const Bin& bin, const TouchingSet& set, std::vector<Near>& near) const;
  Near seen_from(const Bin& bin, std::int32_t wall, const TouchingSet& set) const;
  /// A face near a point, and the wall that covers it.
  struct NearFace {
    std::int32_t wall;
    Surface face;
    std::int32_t covered_by;
    bool is_dropped;  ///< Since that, or one that covers it in turn, holds the point.
  };
  /// Faces near points, one entry each; those of a point next to one another.
  struct Touches {
    std::vector<std::uint32_t> rows;
    std::vector<std::int32_t> walls;
    std::vector<Real> distances;         ///< Of points [m].
    std::vector<Vec3> normals, extents;  ///< n, and B n [m^2].
  };
  /// What was found in a bin.
  struct Found {
    std::vector<Contact> contacts;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> left;
    // Work:
    std::vector<Near> near;
    std::vector<std::uint32_t> candidates;  ///< Rows near walls.
    Touches touches;
    std::vector<NearFace> faces;  ///< Of a row.
  };
  /// Contacts next to one another.
  struct Range {
    std::size_t begin, end;
  };
  /// Those of the points of a bin.
  struct BinContacts {
    Range contacts;
    Vec3i block;  ///< Of the bin.
  };

  static void find_candidates(std::span<const Near> near, ChunkRows rows, std::span<const Vec3> x, const Vec3& middle,
                              std::vector<std::uint32_t>& candidates);
  void find_touches(std::uint32_t set, const Vec3& middle, Found& found) const;
  void turn_at_edges(const PointSet& points, Found& found) const;
  template <class Counts>
  std::optional<Surface> nearest_behind(std::int32_t wall, const Vec3& x, const Counts& counts) const;
  void include_around(const Vec3& x, std::vector<NearFace>& faces) const;
  std::int32_t wall_over(std::int32_t wall, const Vec3& foot, const Vec3& normal) const;
  Surface beside_edges(std::int32_t wall, const Vec3& x, const Surface& face) const;
  void leave_covered(const Vec3& x, const Symmetric3<Real>& at_rest, std::vector<NearFace>& faces) const;
  std::int32_t cover_of(std::int32_t wall, const Surface& face, const Vec3& x, std::span<const NearFace> faces) const;
  PointId bit_of(std::int32_t wall, const Vec3& normal) const;
  void find_in(const Bin& bin, std::uint32_t set, Found& found) const;
  void share_memory(std::span<Contact> of_point, PointId faces) const;
  void solve_one(Contact& contact, const Vec3& u, Real a) const;
  template <class Visit>
  void for_each_cube_in_turn(const Visit& visit) const {
    for (const std::vector<Range>& apart : turns_) {
#pragma omp parallel for schedule(dynamic)
      for (std::size_t r = 0; r < apart.size(); ++r) visit(apart[r]);
    }
  }
  void reach(const Forest& forest, std::vector<std::int32_t> rows);
  template <class Visit>
  void for_each_reached(std::size_t rows, const Visit& visit) const;
  void share_numbers(const ContactGround& ground) const;
  /// So many contacts are gathered to side by side.
  static constexpr std::size_t at_once = 4;
  void gather_some(Range some, bool is_first, const Real* velocity, const Real* shared, std::array<Vec3, at_once>& u);
  std::array<Real, 2> pass(const ContactGround& ground, bool looks);
  std::vector<Real> roots_of_answers(const ContactGround& ground) const;
  Real closing(std::size_t c) const;
  Vec3 velocity_beside_wall(std::size_t c, const Real* velocity) const;
  void solve_hit(std::size_t c, const Vec3& u, Real a);
  void begin_hits(const ContactGround& ground);
  bool find_hits(const ContactGround& ground);
  void let_rebound();
  void end_hits();
  void let_impulses_act(const ContactGround& ground) const;
  bool begin_where_passes_ended(const ContactGround& ground);
  /// Until one changes less than this share of what all have.
  void make_passes(const ContactGround& ground, Real share, bool looks_soon = false);
  void follow_walls();

  Real stored(const Contact& contact, const Vec3& force) const;
  Real gap_to_close(const Contact& contact) const;
  Vec3 turned_with_wall(const Contact& contact, const Vec3& vector) const;
  bool may_pull(const Contact& contact) const;

  std::span<const Wall> walls_;
  std::vector<TouchingSet> sets_;
  std::vector<WallClosing> closing_;  ///< Of each.
  TransferSettings transfer_;
  Real time_ = 0, dt_ = 0;                 ///< Where the present part of the step begins, and how long it is [s].
  std::vector<RigidState> states_, ends_;  ///< Of walls at time_ and after dt_.
  std::vector<Found> found_;               ///< Work: bin by bin.
  std::vector<Contact> contacts_;
  /// Contacts and time where the step began, once it has gone on by parts.
  std::optional<std::pair<Real, std::vector<Contact>>> start_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> left_;  ///< Points, by set and row, that walls let go.
  std::vector<BinContacts> bins_;
  std::vector<std::vector<Range>> turns_;  ///< Cubes of blocks whose nodes are apart, of one set.
  std::size_t each_ = 0;                   ///< Nodes of a contact.
  int width_ = NodeField::width;           ///< Reals of a node.
  std::vector<std::int32_t> nodes_;        ///< Of each contact; as numbers of the first real of a node.
  std::vector<Real> weights_;              ///< W_i.
  std::vector<std::int32_t> reached_;      ///< Rows of the forest where contacts of any rank may act, owned ones first.
  std::size_t reached_owned_ = 0;          ///< Of these.
  std::ptrdiff_t points_of_row_ = 1;       ///< That a row of the forest has.
  std::vector<Real> row_sums_;             ///< a of (6.4), of each contact [1/kg].
  bool has_row_sums_ = false;              ///< Of what was scattered last.
  std::vector<Hit> hits_;                  ///< One for each contact, where bodies rebound.
  std::vector<Vec3> alone_;                ///< Impulses before others changed velocities [kg m/s].
  std::vector<Vec3> change_;               ///< Work: of impulses in a pass [kg m/s].
  std::size_t part_ = 0;                   ///< The present part of the step.
  std::vector<std::vector<Vec3>> ended_;   ///< Impulses when each part was last tried with this dt [kg m/s].
  bool looks_ = false;                     ///< There are walls that act on points.
  bool any_ = false;
};

}  // namespace weft
