// Charts of what /metrics says: throughput, percentiles of the latency, and the queue, over the last two minutes.

const POINTS = 60;
const WINDOW = 5;
const WIDTH = 240;
const HEIGHT = 70;
const SVG = "http://www.w3.org/2000/svg";
const SERIES = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** The series of Prometheus' text format that belong to a model, or to any where `model` is null. */
export function read(text, model) {
  const found = {requests: 0, failed: 0, queue: 0, buckets: new Map()};
  for (const line of text.split("\n")) {
    const series = SERIES.exec(line);
    if (series === null) {
      continue;
    }
    const labels = Object.fromEntries([...(series[2] ?? "").matchAll(LABEL)].map(([, name, value]) => [name, value]));
    if (model !== null && labels.model !== model) {
      continue;
    }
    const value = Number(series[3]);
    if (series[1] === "berth_model_requests_total") {
      found.requests += value;
      found.failed += labels.status.startsWith("2") ? 0 : value;
    } else if (series[1] === "berth_queue_depth") {
      found.queue += value;
    } else if (series[1] === "berth_model_request_seconds_bucket") {
      const end = labels.le === "+Inf" ? Infinity : Number(labels.le);
      found.buckets.set(end, (found.buckets.get(end) ?? 0) + value);
    }
  }
  return found;
}

/** The time below which `share` of the requests between two readings stayed, in seconds; null where there were none. */
export function percentile(before, now, share) {
  const ends = [...now.keys()].sort((a, b) => a - b);
  const counts = ends.map(end => now.get(end) - (before.get(end) ?? 0));
  const total = counts.at(-1) ?? 0;
  if (total <= 0) {
    return null;
  }
  const wanted = share * total;
  const index = counts.findIndex(count => count >= wanted);
  const from = index === 0 ? 0 : ends[index - 1];
  if (ends[index] === Infinity) {
    return from;
  }
  const below = index === 0 ? 0 : counts[index - 1];
  return from + (ends[index] - from) * (wanted - below) / (counts[index] - below);
}

function milliseconds(seconds) {
  return seconds === null ? "–" : seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(2)} s`;
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  return made;
}

function path(values, top) {
  const step = WIDTH / (POINTS - 1);
  let text = "";
  let pen = "M";
  values.forEach((value, i) => {
    if (value === null) {
      pen = "M";
    } else {
      const x = WIDTH - (values.length - 1 - i) * step;
      text += `${pen}${x.toFixed(1)} ${(HEIGHT - 4 - value / top * (HEIGHT - 12)).toFixed(1)}`;
      pen = "L";
    }
  });
  return text;
}

/** One figure with one or two lines. */
class Chart {
  constructor(figure, title, lines) {
    this.title = title;
    this.values = lines.map(() => []);
    const caption = document.createElement("figcaption");
    const name = document.createElement("span");
    name.textContent = title;
    this.readings = lines.map((line, i) => {
      const reading = document.createElement(i === 0 ? "b" : "span");
      reading.className = i === 0 ? "" : "key-second";
      reading.textContent = "–";
      return reading;
    });
    caption.append(name, ...this.readings);
    this.svg = element("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": title});
    this.svg.append(element("line", {class: "axis", x1: 0, x2: WIDTH, y1: HEIGHT - 4, y2: HEIGHT - 4}));
    this.area = element("path", {class: "area"});
    this.lines = lines.map((_, i) => element("path", {class: i === 0 ? "line" : "line second"}));
    this.svg.append(this.area, ...this.lines);
    figure.append(caption, this.svg);
  }

  add(values, texts) {
    values.forEach((value, i) => {
      this.values[i].push(value);
      this.values[i].splice(0, this.values[i].length - POINTS);
      this.readings[i].textContent = texts[i];
      this.readings[i].classList.toggle("zero", value === 0);
      this.lines[i].classList.toggle("zero", this.values[i].every(each => each === 0));
    });
    this.svg.setAttribute("aria-label", `${this.title}: ${texts.join(", ")}`);
    const top = Math.max(Number.MIN_VALUE, ...this.values.flat().map(value => value ?? 0));
    this.lines.forEach((line, i) => line.setAttribute("d", path(this.values[i], top)));
    const shape = path(this.values[0].map(value => value ?? 0), top);
    const start = WIDTH - (this.values[0].length - 1) * WIDTH / (POINTS - 1);
    this.area.setAttribute("d", `${shape}L${WIDTH} ${HEIGHT - 4}L${start.toFixed(1)} ${HEIGHT - 4}Z`);
  }
}

/** The three charts. `add` takes a reading of the metrics and when it was made, in seconds. */
export class Charts {
  constructor(throughput, latency, queue) {
    this.throughput = new Chart(throughput, "Requests per second", ["all", "failed"]);
    this.latency = new Chart(latency, "Latency", ["p50", "p99"]);
    this.queue = new Chart(queue, "Records in the queue", [""]);
    this.restart();
  }

  /** Forgets the last readings: another model is looked at, or nobody has looked. */
  restart() {
    this.read = [];
  }

  add(reading, time) {
    const last = this.read.at(-1);
    this.read.push({...reading, time});
    this.read.splice(0, this.read.length - WINDOW - 1);
    this.queue.add([reading.queue], [String(reading.queue)]);
    // The counters begin again with the server.
    if (last === undefined || last.requests > reading.requests) {
      this.read.splice(0, this.read.length - 1);
      return;
    }
    const rates = [reading.requests - last.requests, reading.failed - last.failed].map(count => count / (time - last.time));
    const [all, failed] = rates.map(rate => rate < 10 ? rate.toFixed(1) : String(Math.round(rate)));
    this.throughput.add(rates, [all, `${failed} failed`]);
    const median = percentile(this.read[0].buckets, reading.buckets, 0.5);
    const slowest = percentile(this.read[0].buckets, reading.buckets, 0.99);
    this.latency.add([median, slowest], [`p50 ${milliseconds(median)}`, `p99 ${milliseconds(slowest)}`]);
  }
}
