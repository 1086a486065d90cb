//! Points, boxes and what lies between them. Only arithmetic that is exact to the last bit on every platform.

/// A place, in pixels from the upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl Point {
    pub(crate) const fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    pub(crate) fn plus(self, direction: Point, length: f64) -> Point {
        Point::new(self.x + direction.x * length, self.y + direction.y * length)
    }

    pub(crate) fn to(self, other: Point) -> Point {
        Point::new(other.x - self.x, other.y - self.y)
    }

    pub(crate) fn length(self) -> f64 {
        (self.x * self.x + self.y * self.y).sqrt()
    }

    /// The direction, of length one; to the right if there is none.
    pub(crate) fn unit(self) -> Point {
        let length = self.length();
        match length > 1e-9 {
            true => Point::new(self.x / length, self.y / length),
            false => Point::new(1.0, 0.0),
        }
    }

    /// To the right of somebody who goes in this direction; y points down.
    pub(crate) fn right(self) -> Point {
        Point::new(-self.y, self.x)
    }

    pub(crate) fn dot(self, other: Point) -> f64 {
        self.x * other.x + self.y * other.y
    }
}

/// A box, by its middle and its half width and height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Area {
    pub(crate) middle: Point,
    pub(crate) half: Point,
}

impl Area {
    pub(crate) fn new(middle: Point, width: f64, height: f64) -> Area {
        Area {
            middle,
            half: Point::new(width / 2.0, height / 2.0),
        }
    }

    /// Whether the boxes come closer than `margin`.
    pub(crate) fn touches(&self, other: &Area, margin: f64) -> bool {
        let apart = self.middle.to(other.middle);
        apart.x.abs() < self.half.x + other.half.x + margin
            && apart.y.abs() < self.half.y + other.half.y + margin
    }

    /// Whether a line from `a` to `b` comes closer than `margin` to the box, about.
    pub(crate) fn is_crossed(&self, a: Point, b: Point, margin: f64) -> bool {
        let grown = Area {
            middle: self.middle,
            half: Point::new(self.half.x + margin, self.half.y + margin),
        };
        grown.span_within(a, b).is_some()
    }

    /// The part of the line from `a` to `b` that is in the box, as shares of its length.
    pub(crate) fn span_within(&self, a: Point, b: Point) -> Option<(f64, f64)> {
        let way = a.to(b);
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        let axes = [
            (a.x - self.middle.x, way.x, self.half.x),
            (a.y - self.middle.y, way.y, self.half.y),
        ];
        for (start, step, half) in axes {
            if step.abs() < 1e-9 {
                if start.abs() > half {
                    return None;
                }
                continue;
            }
            let (one, other) = ((-half - start) / step, (half - start) / step);
            enter = enter.max(one.min(other));
            leave = leave.min(one.max(other));
        }
        (enter < leave).then_some((enter, leave))
    }

    /// How far the box reaches from its middle in a direction.
    pub(crate) fn reach(&self, direction: Point) -> f64 {
        self.half.x * direction.x.abs() + self.half.y * direction.y.abs()
    }
}

/// A count as a length.
pub(crate) fn small(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
