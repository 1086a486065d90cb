(() => {
  'use strict';
  const figure = document.querySelector('figure.play');
  const data = JSON.parse(figure.querySelector('.play-data').textContent);
  const find = (name) => figure.querySelector(`.play-${name}`);
  const [controls, toggle, slider, clock, speed, list] =
    ['controls', 'toggle', 'slider', 'clock', 'speed', 'queues'].map(find);
  const still = matchMedia('(prefers-reduced-motion: reduce)');
  const SVG = 'http://www.w3.org/2000/svg';
  const COLOURS = 8;
  // From the middle of a link to its packets and to its queue, in pixels; a queue's size; the depth and duration of a fall.
  const TRACK = 6;
  const TANK = { offset: 11, start: 5, width: 9, length: 58 };
  const FALL = { depth: 80, seconds: 1 };
  const MOST_QUEUES = 6;
  // A queue without a known limit is shown if more packets wait in it.
  const LEAST_QUEUE = 4;

  const stage = figure.querySelector('.sojourn-topology');
  const make = (name, parent, attributes = {}) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return parent.appendChild(element);
  };

  /** A line beside the path of a link direction, to the right of the way that packets go, with its length so far at each point. */
  const track = (path, back, offset) => {
    const points = back ? path.toReversed() : path;
    const moved = points.map(([x, y], at) => {
      const [a, b] = at + 1 < points.length ? [points[at], points[at + 1]] : [points[at - 1], points[at]];
      const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
      const length = Math.hypot(dx, dy) || 1;
      return [x - (dy / length) * offset, y + (dx / length) * offset];
    });
    let sum = 0;
    const far = moved.map((point, at) => {
      if (at > 0) sum += Math.hypot(point[0] - moved[at - 1][0], point[1] - moved[at - 1][1]);
      return sum;
    });
    return { points: moved, far, length: sum };
  };
  const pointAt = ({ points, far }, distance) => {
    let at = 1;
    while (at + 1 < points.length && far[at] < distance) at += 1;
    const part = (distance - far[at - 1]) / (far[at] - far[at - 1] || 1);
    return [0, 1].map((axis) => points[at - 1][axis] + part * (points[at][axis] - points[at - 1][axis]));
  };
  /** The part of a track between two distances, as the data of a path. */
  const part = (line, from, to) => {
    const inner = line.points.filter((_, at) => line.far[at] > from && line.far[at] < to);
    const all = [pointAt(line, from), ...inner, pointAt(line, to)];
    return `M${all.map((point) => point.map((value) => value.toFixed(1)).join(' ')).join('L')}`;
  };

  const tracks = data.paths.flatMap((path) => [track(path, false, TRACK), track(path, true, TRACK)]);
  const count = data.way.length;
  // When a packet leaves its queue, and when nothing of it is to be seen any more, but for its fall.
  const leaves = new Float64Array(count);
  const ends = new Float64Array(count);
  for (let hop = 0; hop < count; hop += 1) {
    const [at, wait, drop] = [data.at[hop], data.wait[hop], data.drop[hop]];
    leaves[hop] = wait >= 0 ? at + wait : drop >= 0 ? at + drop : Infinity;
    ends[hop] = drop >= 0 ? at + drop : data.flight[hop] >= 0 ? leaves[hop] + data.flight[hop] : Infinity;
  }

  /** The most packets that wait at once in front of each link direction. */
  const most = () => {
    const steps = tracks.map(() => []);
    for (let hop = 0; hop < count; hop += 1) {
      if (leaves[hop] === data.at[hop]) continue;
      steps[data.way[hop]].push([data.at[hop], 1], [leaves[hop], -1]);
    }
    return steps.map((all) => {
      let [now, high] = [0, 0];
      for (const [, step] of all.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
        now += step;
        high = Math.max(high, now);
      }
      return high;
    });
  };
  const limits = new Map(data.limits);
  const queues = most()
    .map((high, way) => ({ way, high, limit: limits.get(way) ?? null }))
    .filter(({ high, limit }) => high > (limit === null ? LEAST_QUEUE : 1))
    .map((queue) => {
      const line = track(data.paths[queue.way >> 1], queue.way % 2 === 1, TANK.offset);
      const [a, b] = [pointAt(line, 0), pointAt(line, 1)];
      const angle = (Math.atan2(b[1] - a[1], b[0] - a[0]) * 180) / Math.PI;
      const length = Math.min(TANK.length, Math.max(12, line.length * 0.45));
      const group = make('g', stage, { transform: `translate(${a[0].toFixed(1)} ${a[1].toFixed(1)}) rotate(${angle.toFixed(1)})` });
      const level = make('rect', group, { class: 'level', x: TANK.start, y: 0, height: TANK.width, width: 0 });
      make('rect', group, { class: 'tank', x: TANK.start, y: 0, height: TANK.width, width: length });
      return { ...queue, level, length, scale: Math.max(queue.high, queue.limit ?? 0) };
    });
  const shown = [...queues].sort((a, b) => b.high - a.high).slice(0, MOST_QUEUES);
  for (const queue of shown) queue.text = list.appendChild(document.createElement('li'));

  const layer = make('g', stage);
  const pools = { path: [], rect: [] };
  const used = { path: 0, rect: 0 };
  const next = (name) => {
    const pool = pools[name];
    if (used[name] === pool.length) pool.push(make(name, layer));
    const element = pool[used[name]];
    used[name] += 1;
    element.removeAttribute('visibility');
    return element;
  };

  const drawPacket = (hop, now) => {
    const line = tracks[data.way[hop]];
    const since = now - leaves[hop];
    // The first bit travels for the propagation delay, the last one comes behind it.
    const flight = data.flight[hop] >= 0 ? data.flight[hop] : data.drop[hop] - data.wait[hop];
    const delay = Math.max(flight - data.sending[hop], flight * 0.02, 1);
    const head = Math.min(1, since / delay) * line.length;
    const tail = Math.max(0, (since - data.sending[hop]) / delay) * line.length;
    // A gap tells packets apart that follow each other; the smallest can still be seen.
    const [from, to] = head - tail > 4 ? [tail + 1, head - 1] : [Math.max(0, head - 3), head];
    if (to <= from) return;
    const d = part(line, from, to);
    if (data.marked[hop]) {
      const edge = next('path');
      edge.setAttribute('class', 'edge');
      edge.setAttribute('d', d);
    }
    const packet = next('path');
    packet.setAttribute('class', `packet f${data.flow[hop] % COLOURS}`);
    packet.setAttribute('d', d);
  };
  const drawDrop = (hop, now, fall) => {
    const line = tracks[data.way[hop]];
    const share = (now - ends[hop]) / fall;
    const lost = data.wait[hop] >= 0 ? line.length / 2 : Math.min(18, line.length / 3);
    const [x, y] = pointAt(line, lost);
    const down = still.matches ? 10 : 8 + FALL.depth * share * share;
    const turn = still.matches ? 45 : 360 * share;
    const square = next('rect');
    square.setAttribute('class', `drop f${data.flow[hop] % COLOURS}`);
    square.setAttribute('width', '8');
    square.setAttribute('height', '8');
    square.setAttribute('opacity', (1 - 0.7 * share).toFixed(2));
    square.setAttribute('transform', `translate(${x.toFixed(1)} ${(y + down).toFixed(1)}) rotate(${turn.toFixed(0)}) translate(-4 -4)`);
  };

  let now = 0;
  const seconds = (ns) => (ns / 1e9).toFixed(6);
  const draw = () => {
    used.path = 0;
    used.rect = 0;
    const waiting = new Array(tracks.length).fill(0);
    const dropped = new Array(tracks.length).fill(0);
    const fall = (FALL.seconds * 1e9) / Number(speed.value);
    for (let hop = 0; hop < count && data.at[hop] <= now; hop += 1) {
      if (now < leaves[hop]) waiting[data.way[hop]] += 1;
      else if (data.drop[hop] >= 0 && now >= ends[hop]) {
        dropped[data.way[hop]] += 1;
        if (now < ends[hop] + fall) drawDrop(hop, now, fall);
      } else if (now < ends[hop]) drawPacket(hop, now);
    }
    for (const [name, pool] of Object.entries(pools)) {
      for (let at = used[name]; at < pool.length; at += 1) pool[at].setAttribute('visibility', 'hidden');
    }
    for (const queue of queues) {
      const filled = waiting[queue.way] / queue.scale;
      queue.level.setAttribute('width', (filled * queue.length).toFixed(1));
      queue.level.classList.toggle('full', filled >= 0.98);
      if (queue.text) {
        const wait = queue.limit === null
          ? `${waiting[queue.way]} packets wait (${queue.high} at most)`
          : `${waiting[queue.way]} of ${queue.limit} packets wait`;
        queue.text.textContent = `${data.names[queue.way]}: ${wait}, ${dropped[queue.way]} dropped`;
      }
    }
    clock.textContent = `${seconds(data.from + now)} s`;
    slider.value = String(Math.round((now / data.span) * 1000));
    slider.setAttribute('aria-valuetext', `${seconds(data.from + now)} seconds`);
  };

  let frame = null;
  let last = null;
  const stop = () => {
    cancelAnimationFrame(frame);
    frame = null;
    toggle.textContent = 'Play';
    toggle.setAttribute('aria-pressed', 'false');
  };
  const step = (time) => {
    now = Math.min(data.span, now + ((time - (last ?? time)) * 1e6) / Number(speed.value));
    last = time;
    draw();
    if (now >= data.span) stop();
    else frame = requestAnimationFrame(step);
  };
  toggle.addEventListener('click', () => {
    if (frame !== null) {
      stop();
      return;
    }
    if (now >= data.span) now = 0;
    last = null;
    toggle.textContent = 'Pause';
    toggle.setAttribute('aria-pressed', 'true');
    frame = requestAnimationFrame(step);
  });
  slider.addEventListener('input', () => {
    now = (Number(slider.value) / 1000) * data.span;
    draw();
  });
  speed.addEventListener('change', draw);
  controls.hidden = false;
  draw();
})();
