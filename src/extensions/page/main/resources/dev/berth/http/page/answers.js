// Shows what a model has answered. Texts of requests and answers become text nodes and nothing else.

const PICTURE = /^(?:iVBORw0KGgo|\/9j\/)[A-Za-z0-9+/]+=*$/;
const MOST_PARTS = 2000;

export function make(name, className, ...children) {
  const made = document.createElement(name);
  if (className) {
    made.className = className;
  }
  made.append(...children);
  return made;
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function isSpan(value) {
  return isObject(value) && Number.isInteger(value.start) && Number.isInteger(value.end);
}

/** A text with its spans marked. They count code points, as Python does, and not JavaScript's units. */
export function marked(text, spans) {
  const points = Array.from(text);
  const paragraph = make("p", "context");
  let at = 0;
  for (const {start, end} of [...spans].sort((a, b) => a.start - b.start)) {
    if (start >= at && end > start && end <= points.length) {
      paragraph.append(points.slice(at, start).join(""), make("mark", "", points.slice(start, end).join("")));
      at = end;
    }
  }
  paragraph.append(points.slice(at).join(""));
  return paragraph;
}

function bar(label, score) {
  const meter = document.createElement("meter");
  meter.min = 0;
  meter.max = 1;
  meter.value = score;
  meter.setAttribute("aria-label", label);
  return make("li", "", make("span", "", make("b", "", label), score.toFixed(4)), meter);
}

/** Answers of the question-answering task: the text of each, and the best one marked in its context. */
function answers(found, context) {
  const [best] = found;
  const parts = [make("p", "found", best.answer === "" ? "No answer in the context" : best.answer)];
  const name = one => found.length === 1 ? "Score" : one.answer === "" ? "No answer" : one.answer;
  parts.push(make("ul", "bars", ...found.map(one => bar(name(one), one.score))));
  parts.push(marked(context, best.answer === "" ? [] : [best]));
  return parts;
}

function scored(list) {
  const label = one => one.label ?? one.token_str ?? one.entity_group ?? one.class ?? one.name;
  const score = one => one.score ?? one.probability;
  const isScored = one => isObject(one) && typeof label(one) === "string" && typeof score(one) === "number";
  return list.length > 0 && list.every(isScored) ? make("ul", "bars", ...list.map(one => bar(label(one), score(one)))) : null;
}

function pictures(value) {
  const texts = (Array.isArray(value) ? value : Object.values(value ?? {}).flat()).filter(one => typeof one === "string");
  return texts.filter(text => PICTURE.test(text)).map((text, i) => {
    const picture = document.createElement("img");
    picture.alt = `Picture ${i + 1} of the answer`;
    picture.src = `data:image/${text.startsWith("i") ? "png" : "jpeg"};base64,${text}`;
    return picture;
  });
}

/** The whole answer as JSON. `request` is the JSON that was asked, or null. */
export function json(value, request) {
  const list = Array.isArray(value) ? value.flat() : [value];
  if (typeof request?.context === "string" && list.length > 0 && list.every(one => isSpan(one) && typeof one.answer === "string")) {
    return answers(list, request.context);
  }
  const inputs = typeof request === "string" ? request : request?.inputs;
  const found = [];
  if (typeof inputs === "string" && list.length > 0 && list.every(isSpan)) {
    found.push(marked(inputs, list));
  }
  const bars = scored(list) ?? (isObject(value) ? Object.values(value).filter(Array.isArray).map(scored).find(one => one) : null);
  if (bars) {
    found.push(bars);
  }
  if (isObject(value) || Array.isArray(value)) {
    found.push(...pictures(value));
  }
  const text = isObject(value) ? value.generated_text ?? value.choices?.[0]?.message?.content ?? value.choices?.[0]?.text : null;
  if (typeof text === "string") {
    found.push(make("p", "stream", text));
  }
  return found.length > 0 ? found : [make("pre", "code", JSON.stringify(value, null, 2))];
}

/** A picture as bytes. */
export function picture(blob, before) {
  URL.revokeObjectURL(before);
  const shown = document.createElement("img");
  shown.alt = "The picture that the model has answered";
  shown.src = URL.createObjectURL(blob);
  return shown;
}

/** What a part adds to a text, where parts are of a form that is known; else null. */
function added(part) {
  if (!isObject(part)) {
    return null;
  }
  const text = part.choices?.[0]?.delta?.content ?? part.choices?.[0]?.text ?? part.token?.text ?? part.text;
  if (typeof text === "string") {
    return text;
  }
  // The last part of a text sums it up.
  return part.choices || typeof part.generated_text === "string" ? "" : null;
}

/** Cuts a stream of text into its parts: events' data, or lines. */
export class Parts {
  constructor(type) {
    this.isEvents = type.startsWith("text/event-stream");
    this.rest = "";
  }

  take(text) {
    this.rest += text;
    const pieces = this.rest.split(this.isEvents ? /\r?\n\r?\n/ : /\r?\n/);
    this.rest = pieces.pop();
    return pieces.map(piece => this.part(piece)).filter(part => part !== "");
  }

  end() {
    const part = this.part(this.rest);
    return part === "" ? [] : [part];
  }

  part(piece) {
    return this.isEvents
      ? piece.split(/\r?\n/).filter(line => line.startsWith("data:")).map(line => line.replace(/^data: ?/, "")).join("\n")
      : piece;
  }
}

/** An answer that grows. */
export class Growing {
  constructor(place) {
    this.shown = make("p", "stream busy");
    place.replaceChildren(this.shown);
    this.count = 0;
  }

  /** Returns the message of a part that says why the stream has failed. */
  add(part) {
    let value = null;
    try {
      value = JSON.parse(part);
    } catch {
      // Parts may be any text.
    }
    if (isObject(value?.error) && typeof value.error.message === "string") {
      return value.error.message;
    }
    this.count++;
    if (part !== "[DONE]" && this.shown.childNodes.length < MOST_PARTS) {
      this.shown.append(added(value) ?? `${part}\n`);
    }
    return null;
  }

  end() {
    this.shown.classList.remove("busy");
  }
}
