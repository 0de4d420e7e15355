#include "weft/run/loop.hpp"

#include "run/load_stepping.hpp"
#include "run/session.hpp"
#include "run/time_stepping.hpp"

namespace weft {

std::unique_ptr<Analysis> make_analysis(const Comm& comm, const Deck& deck, const RunEnd& end, Timers& timers) {
  if (deck.time.scheme == Scheme::equilibrium) return std::make_unique<LoadStepping>(comm, deck, end, timers);
  return std::make_unique<TimeStepping>(comm, deck, end, timers);
}

void run(const Comm& comm, const Deck& its_deck, const RunOptions& options, Requests& requests) {
  Deck deck = its_deck;
  deck.solve.petsc = profile_petsc(deck.solve.petsc);
  Timers timers;
  std::unique_ptr<Analysis> analysis;
  {
    const auto timing = timers.measure("start");
    analysis = make_analysis(comm, deck, end_of(deck, options), timers);
  }
  Session session(comm, deck, options, requests, timers, std::move(analysis));
  session.go();
}

std::string check(const Comm& comm, const Deck& deck) {
  Timers timers;
  return make_analysis(comm, deck, end_of(deck, {}), timers)->forecast();
}

}  // namespace weft
