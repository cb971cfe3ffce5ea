//! Where boxes and lines go: layers by the longest path, few crossings by medians, places near neighbours (Sugiyama's way, in its
//! simplest form). Numbers in, numbers out.

/// Between columns, where lines run; and between boxes of a column.
const GAP: f64 = 90.0;
const SPACE: f64 = 14.0;
/// Between groups that have nothing to do with each other.
const APART: f64 = 26.0;
/// Columns, at most: longer chains end in the last one.
const MOST_COLUMNS: usize = 12;
/// Times that columns are put in order, forth and back.
const SWEEPS: usize = 8;

#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

#[derive(Debug)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// The upper left one of each node.
    pub(super) corners: Vec<(f64, f64)>,
    /// For each edge, from its source to its target.
    pub(super) paths: Vec<Vec<(f64, f64)>>,
}

/// A box, or the place where a long line passes a column.
#[derive(Debug, Clone)]
struct Spot {
    column: usize,
    size: Size,
    /// Of its middle.
    y: f64,
    before: Vec<usize>,
    after: Vec<usize>,
}

pub(super) fn lay_out(sizes: &[Size], edges: &[(usize, usize)]) -> Layout {
    let groups = groups(sizes.len(), edges);
    let columns = columns(sizes.len(), edges);
    let mut spots: Vec<Spot> = sizes
        .iter()
        .zip(&columns)
        .map(|(size, column)| Spot {
            column: *column,
            size: *size,
            y: 0.0,
            before: Vec::new(),
            after: Vec::new(),
        })
        .collect();
    let mut group_of = groups.clone();
    let mut chains: Vec<Vec<usize>> = Vec::with_capacity(edges.len());
    for (from, to) in edges {
        let chain = chain(&mut spots, *from, *to);
        group_of.resize(spots.len(), groups[*from]);
        chains.push(chain);
    }
    let widths = column_widths(&spots);
    let mut top = 0.0;
    for group in 0..groups.iter().max().map_or(0, |last| last + 1) {
        let members: Vec<usize> = (0..spots.len())
            .filter(|at| group_of[*at] == group)
            .collect();
        top = place(&mut spots, &members, top) + APART;
    }
    let x = |column: usize| widths[..column].iter().map(|w| w + GAP).sum::<f64>();
    let paths = edges
        .iter()
        .zip(&chains)
        .map(|((from, to), chain)| path(&spots, chain, *from, *to, &widths, x))
        .collect();
    Layout {
        width: x(widths.len()).max(GAP) - GAP + 2.0 * PADDING,
        height: (top - APART).max(0.0) + 2.0,
        corners: spots[..sizes.len()]
            .iter()
            .map(|s| (x(s.column) + 1.0, s.y - s.size.height / 2.0 + 1.0))
            .collect(),
        paths,
    }
}

/// How far apart the ends of a loop are.
const LOOP: f64 = 8.0;
/// What lines that bend within a column need at its right.
const PADDING: f64 = 20.0;

/// The number of the connected group of each node; larger groups first.
fn groups(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut root: Vec<usize> = (0..nodes).collect();
    fn find(root: &mut [usize], mut at: usize) -> usize {
        while root[at] != at {
            root[at] = root[root[at]];
            at = root[at];
        }
        at
    }
    for (a, b) in edges {
        let (a, b) = (find(&mut root, *a), find(&mut root, *b));
        root[a.max(b)] = a.min(b);
    }
    let roots: Vec<usize> = (0..nodes).map(|at| find(&mut root, at)).collect();
    let mut sizes: Vec<(usize, usize)> = Vec::new();
    for own in &roots {
        match sizes.iter_mut().find(|(known, _)| known == own) {
            Some((_, size)) => *size += 1,
            None => sizes.push((*own, 1)),
        }
    }
    sizes.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let rank = |own: &usize| sizes.iter().position(|(known, _)| known == own);
    roots.iter().filter_map(rank).collect()
}

/// The longest way to each node from where ways begin; edges that close a circle do not count.
fn columns(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let mut arriving = vec![0usize; nodes];
    for (from, to) in edges {
        if from != to && !after[*from].contains(to) {
            after[*from].push(*to);
            arriving[*to] += 1;
        }
    }
    let mut column = vec![0usize; nodes];
    let mut done = vec![false; nodes];
    for _ in 0..nodes {
        // One that nothing open leads to; in a circle, the one that fewest lead to.
        let open = (0..nodes).filter(|at| !done[*at]);
        let Some(next) = open.min_by_key(|at| (arriving[*at], *at)) else {
            break;
        };
        done[next] = true;
        for to in &after[next] {
            if !done[*to] {
                column[*to] = column[*to].max(column[next] + 1).min(MOST_COLUMNS - 1);
                arriving[*to] = arriving[*to].saturating_sub(1);
            }
        }
    }
    column
}

/// The spots from the left end of an edge to the right one, with new ones where it passes a column.
fn chain(spots: &mut Vec<Spot>, from: usize, to: usize) -> Vec<usize> {
    let (left, right) = if spots[from].column <= spots[to].column {
        (from, to)
    } else {
        (to, from)
    };
    let mut chain = vec![left];
    for column in spots[left].column + 1..spots[right].column {
        spots.push(Spot {
            column,
            size: Size {
                width: 0.0,
                height: 2.0,
            },
            y: 0.0,
            before: Vec::new(),
            after: Vec::new(),
        });
        chain.push(spots.len() - 1);
    }
    chain.push(right);
    if spots[left].column != spots[right].column {
        for pair in chain.windows(2) {
            spots[pair[0]].after.push(pair[1]);
            spots[pair[1]].before.push(pair[0]);
        }
    }
    chain
}

fn column_widths(spots: &[Spot]) -> Vec<f64> {
    let last = spots.iter().map(|s| s.column).max().unwrap_or(0);
    let mut widths = vec![0.0f64; last + 1];
    for spot in spots {
        widths[spot.column] = widths[spot.column].max(spot.size.width);
    }
    widths
}

/// Gives the members of a group their heights, from `top` on; returns where they end.
fn place(spots: &mut [Spot], members: &[usize], top: f64) -> f64 {
    let last = members.iter().map(|at| spots[*at].column).max();
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); last.map_or(0, |last| last + 1)];
    for at in members {
        columns[spots[*at].column].push(*at);
    }
    for column in &columns {
        stack(spots, column, None);
    }
    for sweep in 0..SWEEPS {
        let forth = sweep % 2 == 0;
        let numbers: Vec<usize> = if forth {
            (0..columns.len()).collect()
        } else {
            (0..columns.len()).rev().collect()
        };
        for number in numbers {
            let wanted = |at: &usize, spots: &[Spot]| {
                let near = if forth {
                    &spots[*at].before
                } else {
                    &spots[*at].after
                };
                let sum: f64 = near.iter().map(|other| spots[*other].y).sum();
                if near.is_empty() {
                    spots[*at].y
                } else {
                    sum / near.len() as f64
                }
            };
            let mut keyed: Vec<(f64, usize)> = columns[number]
                .iter()
                .map(|at| (wanted(at, spots), *at))
                .collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            columns[number] = keyed.iter().map(|(_, at)| *at).collect();
            let wishes: Vec<f64> = keyed.iter().map(|(wish, _)| *wish).collect();
            stack(spots, &columns[number], Some(&wishes));
        }
    }
    let highest = |spots: &[Spot]| {
        let tops = members
            .iter()
            .map(|at| spots[*at].y - spots[*at].size.height / 2.0);
        tops.fold(f64::INFINITY, f64::min)
    };
    let shift = top - highest(spots);
    let mut end = top;
    for at in members {
        spots[*at].y += shift;
        end = end.max(spots[*at].y + spots[*at].size.height / 2.0);
    }
    end
}

/// One below the other in this order, as near to where they wish to be as that allows.
fn stack(spots: &mut [Spot], column: &[usize], wishes: Option<&[f64]>) {
    let mut next = f64::NEG_INFINITY;
    let mut moved = 0.0;
    for (number, at) in column.iter().enumerate() {
        let half = spots[*at].size.height / 2.0;
        let wish = match wishes {
            Some(wishes) => wishes[number],
            None if next.is_finite() => next + half,
            None => half,
        };
        let y = wish.max(next + half);
        moved += y - wish;
        spots[*at].y = y;
        next = y + half + SPACE;
    }
    // What was pushed down is pushed as far up, all together.
    if wishes.is_some() && !column.is_empty() {
        let shift = moved / column.len() as f64;
        for at in column {
            spots[*at].y -= shift;
        }
    }
}

fn path(
    spots: &[Spot],
    chain: &[usize],
    from: usize,
    to: usize,
    widths: &[f64],
    x: impl Fn(usize) -> f64,
) -> Vec<(f64, f64)> {
    let right = |at: usize| x(spots[at].column) + spots[at].size.width + 1.0;
    let (a, b) = (&spots[from], &spots[to]);
    if a.column == b.column {
        // Around the right side of the column.
        let out = x(a.column) + widths[a.column] + PADDING;
        // One that ends where it begins still goes around.
        let lift = if from == to { LOOP } else { 0.0 };
        return vec![
            (right(from), a.y - lift),
            (out, f64::midpoint(a.y, b.y) - lift / 2.0),
            (right(to), b.y + lift / 2.0),
        ];
    }
    let mut points = Vec::new();
    for (number, at) in chain.iter().enumerate() {
        let spot = &spots[*at];
        let left = x(spot.column);
        if number == 0 {
            points.push((right(*at), spot.y));
        } else if number + 1 == chain.len() {
            points.push((left, spot.y));
        } else {
            points.push((left, spot.y));
            points.push((left + widths[spot.column], spot.y));
        }
    }
    if chain.first() != Some(&from) {
        points.reverse();
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Size = Size {
        width: 100.0,
        height: 30.0,
    };

    fn lay(nodes: usize, edges: &[(usize, usize)]) -> Layout {
        lay_out(&vec![BOX; nodes], edges)
    }

    /// No two boxes overlap, and every line begins and ends at its boxes.
    fn check(nodes: usize, edges: &[(usize, usize)]) -> Layout {
        let layout = lay(nodes, edges);
        for a in 0..nodes {
            let (x, y) = layout.corners[a];
            assert!(x >= 0.0 && y >= 0.0, "{layout:?}");
            assert!(x + BOX.width <= layout.width && y + BOX.height <= layout.height + 1.0);
            for b in a + 1..nodes {
                let (other_x, other_y) = layout.corners[b];
                let apart = (x - other_x).abs() >= BOX.width || (y - other_y).abs() >= BOX.height;
                assert!(apart, "{a} and {b} overlap: {layout:?}");
            }
        }
        for ((from, to), path) in edges.iter().zip(&layout.paths) {
            for (node, point) in [(from, path.first()), (to, path.last())] {
                let (point, (x, y)) = (point.expect("a point"), layout.corners[*node]);
                assert!(
                    (point.1 - y - BOX.height / 2.0).abs() < LOOP + 1.5,
                    "{layout:?}"
                );
                assert!(point.0 >= x - 1.5 && point.0 <= x + BOX.width + 1.5);
            }
        }
        layout
    }

    #[test]
    fn polluters_stand_left_of_victims() {
        let layout = check(5, &[(0, 2), (1, 2), (2, 3)]);
        let column = |at: usize| layout.corners[at].0;
        assert_eq!(column(0), column(1));
        assert!(column(0) < column(2) && column(2) < column(3));
        // The one without an edge stands below.
        assert!((0..4).all(|at| layout.corners[at].1 < layout.corners[4].1));
    }

    #[test]
    fn circles_long_edges_and_loops_are_drawn() {
        check(3, &[(0, 1), (1, 2), (2, 0)]);
        check(2, &[(0, 0), (0, 1), (1, 0)]);
        let layout = check(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]);
        assert!(layout.paths[3].len() > layout.paths[0].len());
        assert!(check(0, &[]).paths.is_empty());
    }

    #[test]
    fn neighbours_do_not_cross_for_nothing() {
        // 0→3, 1→4, 2→5 in any order of the edges.
        let layout = check(6, &[(2, 5), (0, 3), (1, 4)]);
        for (a, b) in [(0, 3), (1, 4), (2, 5)] {
            assert!(
                (layout.corners[a].1 - layout.corners[b].1).abs() < 1.0,
                "{layout:?}"
            );
        }
        // One group: two polluters of two victims each, given crosswise.
        let layout = check(5, &[(0, 4), (1, 3), (0, 2), (1, 2)]);
        let y = |at: usize| layout.corners[at].1;
        assert_eq!(y(0) < y(1), y(4) < y(3), "{layout:?}");
    }

    #[test]
    fn a_long_chain_stays_bounded() {
        let edges: Vec<(usize, usize)> = (0..149).map(|at| (at, at + 1)).collect();
        let layout = check(150, &edges);
        assert!(layout.width < 3_000.0, "{}", layout.width);
        let all: usize = layout.paths.iter().map(Vec::len).sum();
        assert!(all < 2_000, "{all}");
    }
}
