#include "weft/bodies/rod_joint.hpp"

#include "bodies/rod_hessian.hpp"

#include <numbers>

namespace weft {

RodSection RodSection::ellipse(Real a, Real b, Real stretch_modulus, Real youngs_modulus, Real shear_modulus,
                               Real density) {
  const Real area = std::numbers::pi * a * b, squares = a * a + b * b;
  return {stretch_modulus * area,
          youngs_modulus * area * a * a / 4,
          youngs_modulus * area * b * b / 4,
          shear_modulus * area * a * a * b * b / squares,  // St Venant
          std::sqrt(squares) / 2,
          density * area};
}

RodSection RodSection::scaled(Real by) const {
  const Real square = by * by, fourth = square * square;
  return {stretch * square, bend1 * fourth, bend2 * fourth, twist * fourth, gyration * by, mass_per_length * square};
}

JointEnergy joint_energy(const RodJoint& joint, const JointStiffness& stiffness, const Vec3& e, const Vec3& f,
                         Real turn_e, Real turn_f) {
  const JointGradient<Real> along(JointShape<Real>(joint, e, f, turn_e, turn_f), stiffness);
  JointEnergy energy{along.energy, Vec8::Zero()};
  energy.gradient.head<3>() = along.by_e + along.by_turn_e * lag(joint.e.tangent, e);
  energy.gradient.segment<3>(3) = along.by_f + along.by_turn_f * lag(joint.f.tangent, f);
  energy.gradient[6] = along.by_turn_e;
  energy.gradient[7] = along.by_turn_f;
  return energy;
}

Mat8 joint_hessian(const RodJoint& joint, const JointStiffness& stiffness, const Vec3& e, const Vec3& f, Real turn_e,
                   Real turn_f, bool definite) {
  return joint_hessian(JointShape<Real>(joint, e, f, turn_e, turn_f), stiffness, joint.e.tangent, joint.f.tangent,
                       definite);
}

}  // namespace weft
