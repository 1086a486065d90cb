'use strict';
(() => {
  const root = document.documentElement;
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const key = 'sojourn-report-theme';

  // A page opened from a file may be refused storage; the choice then lasts until the page is closed.
  const stored = () => { try { return localStorage.getItem(key); } catch { return null; } };
  const store = (theme) => { try { localStorage.setItem(key, theme); } catch { /* not kept */ } };

  let chosen = root.dataset.theme ?? stored();
  const theme = () => chosen ?? (system.matches ? 'dark' : 'light');

  const button = document.querySelector('button.theme');
  function applyTheme() {
    const now = theme();
    root.dataset.theme = now;
    const other = now === 'dark' ? 'Light' : 'Dark';
    button.textContent = other;
    button.setAttribute('aria-label', `Change to ${other.toLowerCase()} colours`);
  }
  document.querySelector('.tools').hidden = false;
  applyTheme();

  // Figures

  const drawn = new Map();
  const MANY_ROWS = 3000;

  // The data of a figure are read when it is drawn.
  const read = new Map();
  function figureOf(plot) {
    if (!read.has(plot)) {
      const data = plot.parentElement.querySelector('script.figure');
      read.set(plot, JSON.parse(data.textContent));
    }
    return read.get(plot);
  }

  // A figure with a slider shows the rows of one level. Its scales are those of all levels.
  function rowsOf({ rows, slider }, at = slider?.at) {
    return slider ? rows.filter((row) => row[slider.field] === slider.labels[at]) : rows;
  }

  function specOf(figure, name, width, height, row, at) {
    const spec = structuredClone(figure[name]);
    spec.data = { name: 'rows', values: structuredClone(rowsOf(figure, at)) };
    if (row) joinRow(spec, row);
    if (width) {
      if (spec.facet) fitPanels(spec, width);
      else spec.width = width;
      fitLegend(spec, width);
    }
    if (height) fitHeight(spec, height);
    return spec;
  }

  // What opens the page has its place on the first screen: room for the remarks below it is left.
  function heightOf(plot) {
    const answer = plot.closest('.answer');
    if (!answer) return 0;
    const screen = Math.max(900, window.innerHeight);
    const place = plot.getBoundingClientRect();
    const row = rowOf(plot);
    // On a phone the page scrolls anyway.
    if (window.innerWidth <= 640) return row ? 240 : 320;
    // In a row captions stand above.
    const caption = row ? 0 : plot.parentElement.querySelector('figcaption').offsetHeight;
    const whole = row?.element ?? plot.parentElement;
    const remarks = answer.querySelector('.caveats');
    const below = remarks && remarks.offsetTop >= whole.offsetTop + whole.offsetHeight;
    const taken = caption + (below ? remarks.offsetHeight + 18 : 0) + 24;
    const least = row ? 160 : 190;
    return Math.min(row ? 300 : 380, Math.max(least, screen - (place.top + window.scrollY) - taken));
  }

  // Figures in a row: one legend if they have the same series, one extent of time if all are over time.

  const layersOf = (spec) => spec.layer ?? spec.spec.layer;
  const rows = [...document.querySelectorAll('.answer > .row')].map(readRow);
  function rowOf(plot) {
    return rows.find((row) => row.element === plot.closest('.row'));
  }

  function readRow(element) {
    const own = [...element.querySelectorAll('.plot')];
    const all = own.map(figureOf);
    const labels = all.map((figure) => JSON.stringify(legendOf(figure.light).labels));
    const shared = labels.length > 0 && labels.every((text) => text === labels[0]) ? JSON.parse(labels[0]) : [];
    const row = { element, plots: own, labels: shared.length > 1 ? shared : [], picked: [] };
    if (all.length > 0 && all.every((figure) => figure.cursor?.group === 'time')) {
      const times = all.flatMap((figure) => figure.rows.map((values) => values[figure.cursor.x]));
      row.extent = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))];
    }
    if (row.labels.length > 0) addLegend(row);
    return row;
  }

  function joinRow(spec, row) {
    const layers = layersOf(spec);
    // The title of a low axis has no room beside it.
    Object.assign(spec.config.axisY, { titleAngle: 0, titleAlign: 'left', titleBaseline: 'bottom', titleX: -24, titleY: -7 });
    const isSeries = (channel) => JSON.stringify(channel?.scale?.domain) === JSON.stringify(row.labels);
    for (const { encoding, params } of layers) {
      if (row.extent && encoding?.x?.scale) encoding.x.scale.domain = row.extent;
      if (row.labels.length === 0) continue;
      for (const channel of Object.values(encoding ?? {})) if (isSeries(channel)) channel.legend = null;
      for (const param of params ?? []) if (param.bind === 'legend') delete param.bind;
    }
  }

  // A press on a label leaves its lines in sight, in all figures of the row.
  function addLegend(row) {
    row.legend = document.createElement('ul');
    row.legend.className = 'legend';
    for (const label of row.labels) {
      const entry = document.createElement('button');
      entry.type = 'button';
      entry.ariaPressed = 'false';
      entry.append(document.createElement('i'), label);
      entry.addEventListener('click', () => {
        pick(row, row.picked.includes(label) ? row.picked.filter((other) => other !== label) : [...row.picked, label]);
      });
      const item = document.createElement('li');
      item.append(entry);
      row.legend.append(item);
    }
    row.element.prepend(row.legend);
    colourLegend(row);
  }

  // A stroke for each series, as it is in the figures.
  function colourLegend(row) {
    const encodings = layersOf(figureOf(row.plots[0])[theme()]).map((layer) => layer.encoding ?? {});
    const rangeOf = (channel) => encodings.map((encoding) => encoding[channel]?.scale).find((scale) => scale?.domain?.length === row.labels.length)?.range;
    const colours = rangeOf('color');
    const dashes = rangeOf('strokeDash');
    row.legend.querySelectorAll('i').forEach((stroke, at) => {
      const [on, off] = dashes?.[at] ?? [1, 0];
      stroke.style.background = `repeating-linear-gradient(90deg, ${colours[at]} 0 ${on}px, transparent ${on}px ${on + off}px)`;
    });
  }

  function pick(row, labels) {
    if (JSON.stringify(labels) === JSON.stringify(row.picked)) return;
    row.picked = labels;
    row.legend.querySelectorAll('button').forEach((entry, at) => { entry.ariaPressed = String(labels.includes(row.labels[at])); });
    for (const plot of row.plots) showPicked(plot, row);
  }

  function showPicked(plot, row) {
    const view = drawn.get(plot)?.view;
    if (!view) return;
    const color = layersOf(figureOf(plot).light).map((layer) => layer.encoding?.color).find((channel) => channel?.scale);
    const chosen = row.picked.map((label) => ({ unit: '', fields: [{ type: 'E', field: color.field }], values: [label] }));
    view.change('pick_store', vega.changeset().remove(() => true).insert(chosen)).runAsync();
  }

  function joinPicks(plot, row) {
    const { view } = drawn.get(plot);
    view.addDataListener('pick_store', (_, chosen) => pick(row, chosen.flatMap((tuple) => tuple.values)));
    showPicked(plot, row);
  }

  function fitHeight(spec, height) {
    // The legend is within the height.
    const { lines } = legendOf(spec);
    if (!spec.facet) {
      spec.height = Math.max(height, 150 + 17 * lines);
      return;
    }
    const field = spec.facet.field;
    const panels = new Set(spec.data.values.map((row) => String(row[field]))).size;
    const rows = Math.ceil(panels / spec.columns);
    spec.spec.height = Math.max(60, Math.floor((height - 70 - 17 * lines) / rows - 44));
  }

  function fitPanels(spec, width) {
    const axis = 76;
    const gap = 22;
    if (width < 480) spec.columns = 1;
    spec.spec.width = Math.max(80, Math.floor((width - axis - gap * (spec.columns - 1)) / spec.columns));
  }

  // The labels of the legend, and how many lines they take.
  function legendOf(spec) {
    const colours = layersOf(spec).map((layer) => layer.encoding?.color);
    const labels = colours.find((colour) => colour?.scale?.domain && colour.legend !== null)?.scale.domain ?? [];
    return { labels, lines: Math.ceil(labels.length / (spec.config.legend?.columns || labels.length || 1)) };
  }

  // Whether every second series is drawn in the colour of the one before it.
  function inPairs(spec) {
    const colours = layersOf(spec).map((layer) => layer.encoding?.color?.scale?.range).find(Boolean) ?? [];
    return colours.length > 2 && colours.every((colour, at) => at % 2 === 0 || colour === colours[at - 1]);
  }

  function fitLegend(spec, width) {
    const { labels } = legendOf(spec);
    const item = 7 * Math.max(0, ...labels.map((label) => label.length)) + 36;
    if (labels.length * item > width - 80) {
      const columns = Math.max(1, Math.floor((width - 80) / item));
      // What is drawn in one colour stands in one line.
      spec.config.legend.columns = columns > 1 && inPairs(spec) ? columns - (columns % 2) : columns;
    }
  }

  // Legends that merge are reported as conflicts, though they agree in all that is seen: only errors are passed on.
  const compiled = (spec) => vegaLite.compile(spec, { logger: vega.logger(vega.Error) }).spec;

  async function draw(plot) {
    const width = plot.clientWidth;
    const name = theme();
    const last = drawn.get(plot);
    if (!width || (last && last.width === width && last.name === name)) return;
    const turn = { width, name };
    const figure = figureOf(plot);
    const at = figure.slider?.at;
    const height = heightOf(plot);
    const row = rowOf(plot);
    drawn.set(plot, turn);
    try {
      const result = await vegaEmbed(plot, compiled(specOf(figure, name, width, height, row)), {
        mode: 'vega',
        actions: false,
        renderer: figure.rows.length > MANY_ROWS && !figure.cursor ? 'canvas' : 'svg',
        tooltip: { theme: 'custom', disableDefaultStyle: true },
      });
      if (last?.view) last.view.finalize();
      turn.view = result.view;
      if (figure.slider?.at !== at) showLevel(plot);
      plot.classList.add('drawn');
      if (row?.legend) joinPicks(plot, row);
      if (figure.cursor) {
        joinZoom(plot);
        pointAt(plot);
      }
    } catch (error) {
      plot.textContent = `This figure could not be drawn: ${error.message}`;
    }
  }

  // Only the data change with the level: what the reader zoomed or picked stays.
  function showLevel(plot) {
    const figure = figureOf(plot);
    drawn.get(plot)?.view?.data('rows', structuredClone(rowsOf(figure))).run();
    if (!figure.cursor) return;
    linesOf.delete(plot);
    showCursor(plot);
  }

  for (const input of document.querySelectorAll('.slider input')) {
    const plot = input.closest('figure').querySelector('.plot');
    input.parentElement.hidden = false;
    input.addEventListener('input', () => {
      const { slider } = figureOf(plot);
      slider.at = input.valueAsNumber;
      input.setAttribute('aria-valuetext', slider.shown[slider.at]);
      input.parentElement.querySelector('output').textContent = slider.shown[slider.at];
      showLevel(plot);
    });
  }

  // Figures over time have one cursor: the values of all of them at a time are read together. Distributions have one each.

  const cursors = new Map();
  const linesOf = new Map();

  // The values of each line, by panel and series, in the order of time.
  function linesIn(plot) {
    if (!linesOf.has(plot)) {
      const figure = figureOf(plot);
      const { cursor } = figure;
      const lines = new Map();
      for (const row of rowsOf(figure)) {
        const name = [...new Set([row[cursor.facet], row[cursor.series]])].filter(Boolean).join(', ');
        if (!lines.has(name)) lines.set(name, []);
        lines.get(name).push([row[cursor.x], row[cursor.y]]);
      }
      linesOf.set(plot, lines);
    }
    return linesOf.get(plot);
  }

  // A curve over time has values between its ends; a distribution is 0 before them and 1 after.
  function valueAt(line, time, isTime) {
    if (time < line[0][0]) return isTime ? null : 0;
    if (time > line[line.length - 1][0] && isTime) return null;
    let low = 0;
    let high = line.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (line[middle][0] <= time) low = middle;
      else high = middle - 1;
    }
    return line[low][1];
  }

  // Where the panels of a plot are, and which times they show.
  function panelsOf(plot) {
    const view = drawn.get(plot)?.view;
    if (!view) return null;
    let scale;
    try { scale = view.scale('x'); } catch { return null; }
    const cells = plot.querySelectorAll('g.role-scope.cell > g > path.background');
    const frames = cells.length ? cells : plot.querySelectorAll('g.role-frame.root > g > path.background');
    return { domain: scale.domain(), isLog: scale.type === 'log', frames: [...frames].map((frame) => frame.getBoundingClientRect()) };
  }

  function showCursor(plot) {
    for (const old of plot.parentElement.querySelectorAll('.cursor')) old.remove();
    let readout = plot.parentElement.querySelector('.readout');
    if (!readout) {
      readout = document.createElement('p');
      readout.className = 'readout';
      plot.after(readout);
    }
    const at = cursors.get(figureOf(plot).cursor.group) ?? null;
    const panels = at === null ? null : panelsOf(plot);
    if (!panels) {
      readout.textContent = '';
      return;
    }
    const share = shareOf(panels, at);
    const own = plot.getBoundingClientRect();
    for (const frame of share >= 0 && share <= 1 ? panels.frames : []) {
      const line = document.createElement('div');
      line.className = 'cursor';
      line.style.left = `${frame.left - own.left + share * frame.width}px`;
      line.style.top = `${frame.top - own.top}px`;
      line.style.height = `${frame.height}px`;
      plot.append(line);
    }
    const { cursor } = figureOf(plot);
    const format = (value) => Number(value.toPrecision(4)).toString();
    const values = [];
    for (const [name, line] of linesIn(plot)) {
      const value = valueAt(line, at, cursor.group === 'time');
      if (value !== null) values.push(`${name ? `${name} ` : ''}${format(value)}`);
    }
    const unit = cursor.unit ? ` (${cursor.unit})` : '';
    readout.textContent = `${format(at)} ${cursor.time ?? ''}${unit}: ${values.join('; ') || 'no value'}`;
  }

  // A place on the axis as a share of its length, and back.
  const scaled = (panels, value) => (panels.isLog ? Math.log(value) : value);
  function shareOf(panels, value) {
    const [first, last] = panels.domain.map((end) => scaled(panels, end));
    return (scaled(panels, value) - first) / (last - first);
  }
  function valueOf(panels, share) {
    const [first, last] = panels.domain.map((end) => scaled(panels, end));
    const value = first + Math.min(1, Math.max(0, share)) * (last - first);
    return panels.isLog ? Math.exp(value) : value;
  }

  function moveCursor(group, value) {
    cursors.set(group, value);
    for (const plot of drawn.keys()) if (figureOf(plot).cursor?.group === group) showCursor(plot);
  }

  function pointAt(plot) {
    const { group } = figureOf(plot).cursor;
    showCursor(plot);
    if (plot.dataset.cursor) return;
    plot.dataset.cursor = group;
    plot.tabIndex = 0;
    plot.addEventListener('pointermove', (event) => {
      const panels = panelsOf(plot);
      const inside = ({ left, right, top, bottom }) => event.clientX >= left && event.clientX <= right && event.clientY >= top && event.clientY <= bottom;
      const frame = panels?.frames.find(inside);
      if (!frame) return;
      moveCursor(group, valueOf(panels, (event.clientX - frame.left) / frame.width));
    });
    plot.addEventListener('keydown', (event) => {
      const panels = panelsOf(plot);
      if (!panels) return;
      const step = event.shiftKey ? 0.1 : 0.01;
      const now = shareOf(panels, cursors.get(group) ?? panels.domain[0]);
      const to = { ArrowLeft: now - step, ArrowRight: now + step, Home: 0, End: 1, Escape: null };
      if (!(event.key in to)) return;
      event.preventDefault();
      moveCursor(group, to[event.key] === null ? null : valueOf(panels, to[event.key]));
    });
  }

  // Figures over time that stand together show the same times: moving one moves the others.

  const zoomed = new Map();
  // What each figure was told last: it is no news when it tells it.
  const told = new Map();
  const togetherWith = (plot) => plot.closest('.row, .part') ?? plot;

  function joinZoom(plot) {
    const { cursor } = figureOf(plot);
    const { view } = drawn.get(plot);
    const signal = `view_${cursor.x}`;
    if (cursor.group !== 'time') return;
    // Figures that do not move have no such signal.
    try { view.signal(signal); } catch { return; }
    const together = togetherWith(plot);
    const show = (other) => {
      const { view: own } = drawn.get(other) ?? {};
      const name = `view_${figureOf(other).cursor.x}`;
      const extent = zoomed.get(together) ?? null;
      told.set(other, String(extent));
      own?.signal(name, extent).runAsync().then(() => showCursor(other));
    };
    if (zoomed.get(together)) show(plot);
    view.addSignalListener(signal, (_, extent) => {
      if (String(extent) === told.get(plot)) return;
      told.set(plot, String(extent));
      zoomed.set(together, extent);
      for (const other of drawn.keys()) {
        if (other !== plot && figureOf(other).cursor?.group === 'time' && togetherWith(other) === together) show(other);
      }
      view.runAfter(() => showCursor(plot));
    });
  }

  const plots = [...document.querySelectorAll('.plot')];

  // A figure is drawn when it comes near the screen, which it never does while it is folded away.
  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) draw(target);
  }, { rootMargin: '500px' });
  for (const plot of plots) near.observe(plot);

  async function drawAgain() {
    for (const row of rows) if (row.legend) colourLegend(row);
    for (const plot of [...drawn.keys()]) await draw(plot);
  }

  // A picture by itself says which level it shows.
  function lightView(figure, options, at = figure.slider?.at) {
    const spec = specOf(figure, 'light', 0, 0, null, at);
    const { slider } = figure;
    if (slider) spec.title = { text: `${slider.title}: ${slider.shown[at]}`, anchor: 'start', fontSize: 12.5, fontWeight: 'normal' };
    return new vega.View(vega.parse(compiled(spec)), options);
  }

  function save(name, address) {
    const link = document.createElement('a');
    link.href = address;
    link.download = name;
    link.click();
  }

  function saveText(name, type, text) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    save(name, address);
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  function csvOf(rows) {
    const fields = Object.keys(rows[0] ?? {}).filter((field) => !field.startsWith('_') || field === '_source');
    const quoted = (value) => {
      const text = value === null || value === undefined ? '' : String(value);
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = rows.map((row) => fields.map((field) => quoted(row[field])).join(','));
    const head = fields.map((field) => (field === '_source' ? 'source' : field)).join(',');
    return `${[head, ...lines].join('\n')}\n`;
  }

  const white = (view) => view.background('#ffffff');
  const exports = {
    SVG: async (figure) => {
      const svg = await white(lightView(figure, { renderer: 'none' })).toSVG();
      saveText(`${figure.id}.svg`, 'image/svg+xml', svg);
    },
    PNG: async (figure) => {
      const address = await white(lightView(figure, { renderer: 'none' })).toImageURL('png', 3);
      save(`${figure.id}.png`, address);
    },
    CSV: (figure) => saveText(`${figure.id}.csv`, 'text/csv', csvOf(figure.rows)),
  };

  for (const plot of plots) {
    const actions = document.createElement('div');
    actions.className = 'actions';
    for (const [name, run] of Object.entries(exports)) {
      const action = document.createElement('button');
      action.type = 'button';
      action.textContent = name;
      action.title = name === 'CSV' ? 'Save the data of this figure' : `Save this figure as ${name}`;
      action.addEventListener('click', () => run(figureOf(plot)));
      actions.append(action);
    }
    plot.after(actions);
  }

  let timer;
  new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(() => { fitFrames(); drawAgain(); }, 120);
  }).observe(document.getElementById('content'));

  button.addEventListener('click', () => {
    chosen = theme() === 'dark' ? 'light' : 'dark';
    store(chosen);
    applyTheme();
    drawAgain();
  });
  system.addEventListener('change', () => {
    applyTheme();
    drawAgain();
  });

  // Paper is white, and as wide as the figures were made for whatever the screen shows. It shows what is open.
  window.addEventListener('beforeprint', () => {
    for (const plot of plots) {
      if (plot.closest('details:not([open])')) continue;
      const paper = document.createElement('div');
      paper.className = 'paper';
      plot.after(paper);
      const figure = figureOf(plot);
      lightView(figure, { renderer: 'svg' }, figure.slider?.middle).initialize(paper).run();
    }
  });
  window.addEventListener('afterprint', () => {
    for (const paper of document.querySelectorAll('.paper')) paper.remove();
  });

  // Parts

  const parts = [...document.querySelectorAll('details.part')];
  const entryOf = (part) => document.querySelector(`nav a[href="#${part.id}"]`)?.parentElement;
  const unfold = document.querySelector('button.unfold');
  const isUnfolded = () => parts.every((part) => part.open);
  function tell(part) {
    entryOf(part)?.classList.toggle('open', part.open);
    unfold.textContent = isUnfolded() ? 'Fold all' : 'Unfold all';
    if (part.open) fitFrames();
  }
  for (const part of parts) {
    part.addEventListener('toggle', () => tell(part));
    tell(part);
  }
  unfold.addEventListener('click', () => {
    const open = !isUnfolded();
    for (const part of parts) part.open = open;
  });

  // What a link leads to is unfolded first.
  function reveal(hash) {
    const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target) return;
    for (let fold = target.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
    target.scrollIntoView();
  }
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) reveal(link.hash);
  });
  window.addEventListener('hashchange', () => reveal(location.hash));
  reveal(location.hash);

  // Tables

  // A header can only stay in sight of the page if its table is not in a frame that scrolls.
  function fitFrames() {
    for (const frame of document.querySelectorAll('.frame')) {
      frame.classList.remove('fits');
      const fits = frame.scrollWidth <= frame.clientWidth;
      frame.classList.toggle('fits', fits);
      if (fits) frame.removeAttribute('tabindex');
      else frame.tabIndex = 0;
    }
  }
  fitFrames();

  const sortKey = (cell) => {
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const text = cell.textContent.trim();
    return text === '–' ? null : text;
  };

  function compare(a, b) {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return String(a).localeCompare(String(b), 'en', { numeric: true });
  }

  for (const table of document.querySelectorAll('table.sortable')) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    if (original.length < 2) continue;
    heads.forEach((head, column) => {
      const label = head.querySelector('.head');
      const sorter = document.createElement('button');
      sorter.type = 'button';
      sorter.title = 'Sort';
      label.replaceWith(sorter);
      sorter.append(label);
      sorter.addEventListener('click', () => {
        const order = { none: 'ascending', ascending: 'descending', descending: 'none' }[head.ariaSort ?? 'none'];
        for (const other of heads) other.removeAttribute('aria-sort');
        if (order === 'none') {
          body.append(...original);
          return;
        }
        head.setAttribute('aria-sort', order);
        const sign = order === 'ascending' ? 1 : -1;
        const keyed = original.map((row) => ({ row, key: sortKey(row.cells[column]) }));
        // What is empty stays at the end either way.
        keyed.sort((a, b) => (a.key === null) - (b.key === null) || sign * compare(a.key, b.key));
        body.append(...keyed.map(({ row }) => row));
      });
    });
  }

  for (const more of document.querySelectorAll('button.more')) {
    const table = more.parentElement.querySelector('table');
    const folded = more.textContent;
    more.addEventListener('click', () => {
      const whole = table.classList.toggle('whole');
      more.setAttribute('aria-expanded', String(whole));
      more.textContent = whole ? 'Fewer rows' : folded;
    });
  }

  // The command

  const copy = document.querySelector('button.copy');
  const command = document.getElementById('command');
  copy.hidden = false;
  copy.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      copy.textContent = 'Copied';
      setTimeout(() => { copy.textContent = 'Copy'; }, 1500);
    } catch {
      window.getSelection().selectAllChildren(command);
    }
  });
})();
