// The page: a form for a model's request, the answer, the charts and the command. It talks to the routes that any client has.

import {Charts, read} from "./charts.js";
import {Growing, Parts, json, make, picture} from "./answers.js";

const BETWEEN_READINGS = 2000;
const READINGS_BETWEEN_MODELS = 5;
const LOAD_SECONDS = 10;
const LOAD_CLIENTS = 8;
const LONGEST_SHOWN = 100_000;
const STREAMED = ["text/event-stream", "application/jsonlines", "text/plain"];

const $ = id => document.getElementById(id);
const charts = new Charts($("throughput"), $("latency"), $("queue"));
const state = {page: null, model: null, form: "text", formOf: null, file: null, pictureAddress: "", asking: null, isLoading: false, command: ""};

// ---- the models

async function loadModels() {
  const response = await fetch("page/models");
  state.page = await response.json();
  const {models, many, metrics} = state.page;
  $("metrics").href = metrics.slice(1);
  $("model-field").hidden = !many;
  const names = models.map(model => model.name);
  if ([...$("model").options].map(option => option.value).join("\n") !== names.join("\n")) {
    const chosen = $("model").value;
    $("model").replaceChildren(...names.map(name => new Option(name, name)));
    $("model").value = names.includes(chosen) ? chosen : names[0] ?? "";
  }
  $("models").replaceChildren(...models.map(row));
  const model = models.find(one => one.name === $("model").value);
  const isNew = model?.name !== state.model?.name;
  const isKnownNow = state.model?.streams === undefined && model?.streams !== undefined;
  state.model = model ?? null;
  enableAsk();
  $("health").textContent = model ? `${many ? model.name : "model"} · ${model.state}${model.device ? ` · ${model.device}` : ""}` : "no models";
  $("health").dataset.state = model?.state ?? "";
  if (model && isNew) {
    await showForm(model);
  } else if (model && isKnownNow) {
    showTypes(model);
  }
}

/** A request needs the form of the model that is chosen. */
function enableAsk() {
  const isReady = state.model !== null && state.formOf === state.model.name;
  $("ask").disabled = !isReady && state.asking === null;
  $("load").disabled = !isReady || state.isLoading;
}

function row(model) {
  const name = make("th", "", model.name);
  name.scope = "row";
  const chip = make("span", "chip", model.state);
  chip.dataset.state = model.state;
  const shown = make("td", "", chip);
  if (model.problem) {
    shown.append(make("p", "quiet", model.problem));
  }
  return make("tr", "", name, shown, make("td", "", model.device ?? "–"), make("td", "", String(model.workers ?? "–")));
}

// ---- the form

function isPicture(type) {
  return type.startsWith("image/") || type === "application/x-image";
}

async function showForm(model) {
  charts.restart();
  state.formOf = null;
  enableAsk();
  $("type").replaceChildren();
  showTypes(model);
  $("raw").setAttribute("aria-pressed", "false");
  const isText = type => type.startsWith("text/") || type.startsWith("application/json");
  const sample = model.sample;
  if (sample && isText(sample.type)) {
    const text = await (await fetch(`page/sample?model=${encodeURIComponent(model.name)}`)).text();
    if (state.model?.name !== model.name) {
      return;
    }
    $("body").value = text.trim();
    const value = parsed(text);
    const isQuestion = typeof value?.question === "string" && typeof value?.context === "string" && Object.keys(value).length === 2;
    if (isQuestion) {
      $("question").value = value.question;
      $("context").value = value.context;
    }
    show(isQuestion ? "question" : "text");
  } else if (sample || model.requestTypes.some(isPicture)) {
    show("file");
    takeFile(null);
    if (sample) {
      const blob = await (await fetch(`page/sample?model=${encodeURIComponent(model.name)}`)).blob();
      if (state.model?.name !== model.name) {
        return;
      }
      takeFile(new File([blob], sample.name, {type: sample.type}));
    }
  } else {
    $("body").value = "";
    show("text");
  }
  state.formOf = model.name;
  enableAsk();
}

function show(form) {
  state.form = form;
  $("question-form").hidden = form !== "question";
  $("file-form").hidden = form !== "file";
  $("text-form").hidden = form !== "text";
  $("raw").hidden = form !== "question" && $("raw").getAttribute("aria-pressed") === "false";
  $("type-field").hidden = form === "question" || $("type").options.length < 2;
}

function showTypes(model) {
  const taken = model.requestTypes.length > 0 ? model.requestTypes : ["application/json", "text/plain", "application/octet-stream"];
  const type = model.sample?.type;
  const chosen = $("type").value;
  $("type").replaceChildren(...[...new Set(type ? [type, ...taken] : taken)].map(one => new Option(one, one)));
  if (taken.includes(chosen)) {
    $("type").value = chosen;
  }
  const streamed = model.streams ? ["application/json", "application/jsonlines", "text/event-stream"] : [];
  const written = model.responseTypes.length > 0 ? model.responseTypes : streamed;
  $("accept").replaceChildren(...written.map(one => new Option(one, one)));
  const wanted = model.streams ? "text/event-stream" : "application/json";
  $("accept").value = written.includes("image/png") ? "image/png" : written.includes(wanted) ? wanted : written[0] ?? "";
  $("accept-field").hidden = written.length < 2;
}

function takeFile(file) {
  state.file = file;
  URL.revokeObjectURL($("preview").src);
  $("preview").hidden = file === null || !isPicture(file.type);
  $("file-name").textContent = file ? `${file.name}, ${file.size} bytes` : "Drop a file here";
  if (file) {
    $("preview").src = $("preview").hidden ? "" : URL.createObjectURL(file);
    $("preview").alt = `The picture ${file.name}`;
    if ([...$("type").options].some(option => option.value === file.type)) {
      $("type").value = file.type;
    }
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** What is asked: where, the headers and the body. */
function request() {
  const body = state.form === "question"
    ? JSON.stringify({question: $("question").value, context: $("context").value})
    : state.form === "file" ? state.file : $("body").value;
  const headers = {"Content-Type": state.form === "question" ? "application/json" : $("type").value};
  if ($("accept").value !== "" && $("accept").value !== state.page.defaultAccept) {
    headers.Accept = $("accept").value;
  }
  return {path: state.model.path.slice(1), headers, body};
}

// ---- the command

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function command({path, headers, body}) {
  const parts = [`curl -s${state.model.streams ? "N" : ""} ${quoted(new URL(path, location.href).href)}`];
  Object.entries(headers).forEach(([name, value]) => parts.push(`-H ${quoted(`${name}: ${value}`)}`));
  if (body instanceof File) {
    parts.push(`--data-binary ${quoted(`@${body.name}`)}`);
  } else {
    parts.push(`--data-raw ${quoted(body)}`);
  }
  if (headers.Accept?.startsWith("image/")) {
    parts.push(`-o ${quoted(`answer.${headers.Accept.slice(6)}`)}`);
  }
  return parts.join(" \\\n  ");
}

async function copy() {
  const range = document.createRange();
  range.selectNodeContents($("curl"));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  try {
    await navigator.clipboard.writeText(state.command);
    $("copy").textContent = "Copied";
  } catch {
    // Without HTTPS, only localhost may. It is selected at least.
    $("copy").textContent = "Selected";
  }
}

// ---- the answer

async function ask(event) {
  event.preventDefault();
  if (state.asking !== null) {
    state.asking.abort();
    return;
  }
  const asking = request();
  if (asking.body === null) {
    $("problem").textContent = "Choose a file first.";
    return;
  }
  state.command = command(asking);
  $("curl").textContent = state.command;
  $("copy").disabled = false;
  $("copy").textContent = "Copy";
  $("problem").textContent = "";
  $("status").textContent = state.model.state === "loaded" ? "Asking …" : "Loading the model …";
  $("ask").textContent = "Stop";
  $("answer").setAttribute("aria-busy", "true");
  state.asking = new AbortController();
  const begun = performance.now();
  try {
    const response = await fetch(asking.path, {method: "POST", headers: asking.headers, body: asking.body, signal: state.asking.signal});
    const summary = await take(response, asking);
    const time = performance.now() - begun;
    $("status").textContent = `${summary}${response.status} in ${time < 1000 ? `${Math.round(time)} ms` : `${(time / 1000).toFixed(2)} s`}`;
  } catch (e) {
    const isStopped = state.asking.signal.aborted;
    $("status").textContent = isStopped ? "Stopped" : "";
    $("problem").textContent = isStopped ? "" : `The server did not answer: ${e.message}`;
  } finally {
    $("answer").setAttribute("aria-busy", "false");
    $("ask").textContent = "Ask";
    state.asking = null;
    enableAsk();
  }
  await loadModels().catch(() => {});
}

/** What the body of an error says. */
function reason(text) {
  const value = parsed(text);
  return value?.message ?? value?.error?.message ?? text;
}

/** Shows a response as it comes. Returns what is said of it besides its status. */
async function take(response, asking) {
  const type = response.headers.get("Content-Type") ?? "";
  if (response.ok && STREAMED.some(one => type.startsWith(one))) {
    return grow(response, type);
  }
  if (response.ok && type.startsWith("image/")) {
    const shown = picture(await response.blob(), state.pictureAddress);
    state.pictureAddress = shown.src;
    $("answer").replaceChildren(shown);
    say(`${type}`);
    return "";
  }
  const text = await response.text();
  const value = parsed(text);
  if (!response.ok) {
    $("problem").textContent = reason(text);
    $("answer").replaceChildren();
    say(text);
    return "";
  }
  if (value === null) {
    $("answer").replaceChildren(make("pre", "code", text.slice(0, LONGEST_SHOWN)));
    say(text);
    return "";
  }
  $("answer").replaceChildren(...json(value, typeof asking.body === "string" ? parsed(asking.body) : null));
  say(JSON.stringify(value, null, 2));
  const [best] = [value].flat();
  return typeof best?.answer === "string" ? `${best.answer === "" ? "No answer" : best.answer} · ` : "";
}

async function grow(response, type) {
  const growing = new Growing($("answer"));
  const parts = new Parts(type);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const show = list => list.forEach(part => {
    $("problem").textContent = growing.add(part) ?? $("problem").textContent;
  });
  let whole = "";
  $("status").textContent = "Answering …";
  try {
    for (let {value, done} = await reader.read(); !done; {value, done} = await reader.read()) {
      whole = (whole + value).slice(0, LONGEST_SHOWN);
      show(parts.take(value));
    }
    show(parts.end());
  } finally {
    growing.end();
    say(whole);
  }
  return `${growing.count} parts · `;
}

function say(text) {
  $("response").textContent = text.slice(0, LONGEST_SHOWN);
  $("details").hidden = false;
}

// ---- the load

async function load() {
  const asking = request();
  if (asking.body === null) {
    $("problem").textContent = "Choose a file first.";
    return;
  }
  state.isLoading = true;
  enableAsk();
  $("status").textContent = "Asking …";
  $("problem").textContent = "";
  const counts = new Map();
  const begun = performance.now();
  const client = async () => {
    while (performance.now() - begun < LOAD_SECONDS * 1000) {
      const response = await fetch(asking.path, {method: "POST", headers: asking.headers, body: asking.body});
      const text = await response.text();
      counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
      if (!response.ok) {
        $("problem").textContent = reason(text);
        if (response.status < 500) {
          // The same request fails again.
          return;
        }
        await new Promise(done => setTimeout(done, 1000));
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({length: LOAD_CLIENTS}, client));
  const lost = ends.find(one => one.status === "rejected");
  if (lost) {
    $("problem").textContent = `The server did not answer: ${lost.reason.message}`;
  }
  const answers = [...counts].sort().map(([status, count]) => `${count} × ${status}`).join(", ");
  $("status").textContent = `${answers || "No answer"} in ${((performance.now() - begun) / 1000).toFixed(1)} s`;
  state.isLoading = false;
  enableAsk();
}

// ---- the start

let readings = 0;

async function look() {
  if (document.visibilityState !== "visible") {
    charts.restart();
    return;
  }
  try {
    if (readings++ % READINGS_BETWEEN_MODELS === 0) {
      await loadModels();
    }
    const text = await (await fetch(state.page.metrics.slice(1))).text();
    charts.add(read(text, state.page.many ? state.model?.name ?? null : null), performance.now() / 1000);
  } catch {
    $("health").textContent = "no connection";
    $("health").dataset.state = "failed";
    charts.restart();
    readings = 0;
  }
}

$("form").addEventListener("submit", ask);
$("form").addEventListener("keydown", event => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    $("form").requestSubmit();
  }
});
$("model").addEventListener("change", loadModels);
$("file").addEventListener("change", () => takeFile($("file").files[0] ?? state.file));
$("copy").addEventListener("click", copy);
$("load").addEventListener("click", load);
$("raw").addEventListener("click", () => {
  const isRaw = $("raw").getAttribute("aria-pressed") === "true";
  $("raw").setAttribute("aria-pressed", String(!isRaw));
  if (!isRaw) {
    $("body").value = JSON.stringify({question: $("question").value, context: $("context").value}, null, 2);
    show("text");
    return;
  }
  const value = parsed($("body").value);
  $("question").value = value?.question ?? $("question").value;
  $("context").value = value?.context ?? $("context").value;
  show("question");
});
["dragover", "dragleave", "drop"].forEach(kind => $("drop").addEventListener(kind, event => {
  event.preventDefault();
  $("drop").classList.toggle("over", kind === "dragover");
  if (kind === "drop" && event.dataTransfer.files.length > 0) {
    takeFile(event.dataTransfer.files[0]);
  }
}));
document.addEventListener("visibilitychange", look);
setInterval(look, BETWEEN_READINGS);
look();
