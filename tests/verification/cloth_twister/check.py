"""At most a thousandth of the triangles of a wound cloth are crossed by others; see README.md."""
import pathlib
import sys

from reading import at_least, at_most

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "postproc"))
import crossings  # noqa: E402
import weft_read  # noqa: E402

STIFFNESS = 6e4  # of contact [Pa]
RUNS = {"quick": {"twister": []},
        "full": {"twister": ["--set", "domain.dx=0.02", "--set", "bodies.cloth.mesh.across=50", "--set",
                             "bodies.cloth.mesh.along=50", "--set", "time.end=1.2"]}}


def check(runs, size):
    run = weft_read.Run(runs["twister"].folder)
    share = 0
    for number in range(len(run.times("cloth"))):
        _, points, triangles = crossings.joined(run, ["cloth"], number)
        share = max(share, len(crossings.crossed_triangles(points, triangles)) / len(triangles))
    pressed = (run.frame("cloth", -1)["pressure"] > 0.03**2 * STIFFNESS).mean()
    return [at_most("crossed triangles, largest share of all frames", share, 1e-3),
            at_least("triangles pressed by 3% or more at the end, share", float(pressed), 0.3)]
