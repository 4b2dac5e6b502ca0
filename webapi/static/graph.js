/* The neighbourhood: phrases in three columns, the two sides between them, third documents below.

   Only the edges of what is pointed at or chosen are strong: with all of them nothing can be read. */

import { make } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1080;
const ROW = 22;
const TOP = 34;
const COLUMNS = { distinct_a: 250, a: 330, common: 540, b: 750, distinct_b: 830 };
const LETTERS = 30;

function svg(tag, props = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Cut after a word where there is one. */
const short = (text) => {
  const letters = [...text];
  if (letters.length <= LETTERS) return text;
  const cut = letters.slice(0, LETTERS - 1).join("");
  return `${cut.includes(" ") ? cut.slice(0, cut.lastIndexOf(" ")).replace(/[ +]+$/, "") : cut}…`;
};

/** `names`: phrase -> how it is shown; `select(list, phrase)` hears a click on a phrase. */
export class Graph {
  constructor(graph, answer, select) {
    this.select = select;
    this.chosen = "";
    const displays = new Map();
    for (const list of ["common", "distinct_a", "distinct_b"]) for (const entry of answer[list]) displays.set(entry.phrase, entry.display);
    this.nodes = new Map(graph.nodes.map((node) => [node.key, { ...node, label: label(node, displays) }]));
    this.edges = graph.edges.filter((edge) => this.nodes.has(edge.phrase) && this.nodes.has(edge.document));
    this.height = this.#place();
    this.said = make("p", { class: "said", "aria-live": "polite" });
    this.node = make("div", {}, make("div", { class: "canvas" }, this.#draw()), this.said, make("p", { class: "muted keys" }, "Click a phrase or a document to see what it is connected to; with the keyboard, the arrow keys move, Enter chooses."));
    this.#light(null);
  }

  /** Sets x and y of every node; the height of the drawing. */
  #place() {
    const columns = { distinct_a: [], common: [], distinct_b: [] };
    const sides = { a: [], b: [] };
    const third = [];
    for (const node of this.nodes.values()) {
      if (node.kind === "phrase" && columns[node.list]) columns[node.list].push(node);
      else if (node.kind === "document") (sides[node.side] || third).push(node);
    }
    const rows = Math.max(4, ...Object.values(columns).map((nodes) => nodes.length));
    const middle = TOP + (rows * ROW) / 2;
    for (const [name, nodes] of Object.entries(columns)) {
      nodes.forEach((node, at) => Object.assign(node, { x: COLUMNS[name], y: middle + (at - (nodes.length - 1) / 2) * ROW }));
    }
    for (const [name, nodes] of Object.entries(sides)) {
      const gap = Math.min(40, (rows * ROW) / Math.max(1, nodes.length));
      nodes.forEach((node, at) => Object.assign(node, { x: COLUMNS[name], y: middle + (at - (nodes.length - 1) / 2) * gap }));
    }
    const bottom = TOP + rows * ROW + 50;
    const step = Math.min(34, (WIDTH - 80) / Math.max(1, third.length));
    third.forEach((node, at) => Object.assign(node, { x: WIDTH / 2 + (at - (third.length - 1) / 2) * step, y: bottom + (at % 2) * 16 }));
    for (const [key, node] of this.nodes) if (node.x === undefined) this.nodes.delete(key);
    this.edges = this.edges.filter((edge) => this.nodes.has(edge.phrase) && this.nodes.has(edge.document));
    this.third = third.length;
    return bottom + 50;
  }

  #draw() {
    const root = (this.root = svg("svg", { viewBox: `0 0 ${WIDTH} ${this.height}`, role: "group", "aria-label": "Phrases, the two sides and the documents that connect them" }));
    const most = Math.max(1, ...this.edges.map((edge) => edge.weight));
    for (const edge of this.edges) {
      const from = this.nodes.get(edge.phrase);
      const to = this.nodes.get(edge.document);
      const bend = to.side ? 0 : 0.5 * (to.y - from.y);
      const path = `M${from.x},${from.y} C${from.x},${from.y + bend} ${to.x},${to.y - bend} ${to.x},${to.y}`;
      edge.line = svg("path", { d: path, class: `edge ${to.side ? `side ${to.side}` : "third"}`, "stroke-width": (0.6 + (1.8 * edge.weight) / most).toFixed(2) });
      root.append(edge.line);
    }
    const heads = [["distinct_a", "only A"], ["common", "both"], ["distinct_b", "only B"]];
    for (const [name, text] of heads) root.append(svg("text", { x: COLUMNS[name], y: 14, class: "head", "text-anchor": anchor(name) }, text));
    if (this.third) root.append(svg("text", { x: WIDTH / 2, y: this.height - 8, class: "head", "text-anchor": "middle" }, "documents that connect them"));
    for (const node of this.nodes.values()) root.append((node.drawn = this.#node(node)));
    [...this.nodes.values()][0]?.drawn.setAttribute("tabindex", "0");
    root.addEventListener("pointerleave", () => this.#light(null));
    return root;
  }

  #node(node) {
    const seen = short(node.label);
    const name = node.kind === "phrase" && seen !== node.label ? `${seen} (${node.label})` : node.label; // what is seen is part of it
    const group = svg("g", { "aria-label": name, class: `node ${node.kind} ${node.list || node.side || "third"}`, tabindex: "-1", role: "button", transform: `translate(${node.x} ${node.y})` });
    group.append(svg("title", {}, node.label));
    if (node.kind === "phrase") {
      const at = { distinct_a: -9, common: 0, distinct_b: 9 }[node.list];
      if (node.list === "common") group.append(svg("rect", { x: -105, y: -10, width: 210, height: 20, rx: 10 }));
      else group.append(svg("circle", { r: 4 }));
      group.append(svg("text", { x: at, y: 4.5, "text-anchor": anchor(node.list) }, seen));
    } else if (node.side) {
      group.append(svg("circle", { r: 14 }), svg("text", { y: 5, "text-anchor": "middle" }, node.side.toUpperCase()));
    } else group.append(svg("rect", { x: -6, y: -6, width: 12, height: 12, rx: 2 }));
    group.addEventListener("pointerenter", () => this.#light(node));
    group.addEventListener("focus", () => this.#light(node));
    group.addEventListener("click", () => this.#choose(node));
    group.addEventListener("keydown", (event) => this.#key(event, node));
    return group;
  }

  #choose(node) {
    if (node.kind === "phrase") this.select(node.list, node.phrase);
    else this.chosen = this.chosen === node.key ? "" : node.key;
    this.#light(node);
  }

  /** Where it is wider than its place, begin with the middle. */
  center() {
    const canvas = this.root.parentElement;
    canvas.scrollLeft = (canvas.scrollWidth - canvas.clientWidth) / 2;
  }

  /** Show the phrase chosen elsewhere on the page. */
  show(chosen) {
    const found = [...this.nodes.values()].find((node) => node.kind === "phrase" && `${node.list}/${node.phrase}` === chosen);
    this.chosen = found?.key || "";
    this.#light(null);
  }

  #light(pointed) {
    const node = pointed || this.nodes.get(this.chosen);
    const near = new Set(node ? [node.key] : []);
    this.root.classList.toggle("lit", Boolean(node));
    for (const edge of this.edges) {
      const on = Boolean(node) && (edge.phrase === node.key || edge.document === node.key);
      edge.line.classList.toggle("on", on);
      if (on) near.add(edge.phrase).add(edge.document);
    }
    for (const one of this.nodes.values()) {
      one.drawn.classList.toggle("near", near.has(one.key));
      one.drawn.classList.toggle("dim", Boolean(node) && !near.has(one.key));
      one.drawn.setAttribute("aria-pressed", String(one.key === this.chosen));
    }
    this.said.textContent = node ? this.#about(node, near) : "";
  }

  #about(node, near) {
    const others = [...near].filter((key) => key !== node.key).map((key) => this.nodes.get(key));
    const names = (nodes) => nodes.slice(0, 5).map((one) => one.label).join(" · ") + (nodes.length > 5 ? ` · and ${nodes.length - 5} more` : "");
    return others.length ? `${node.label}: ${names(others)}` : node.label;
  }

  #key(event, node) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#choose(node);
      return;
    }
    const direction = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    if (!direction) return;
    event.preventDefault();
    const next = this.#nearest(node, direction);
    if (!next) return;
    node.drawn.setAttribute("tabindex", "-1");
    next.drawn.setAttribute("tabindex", "0");
    next.drawn.focus();
  }

  #nearest(node, [dx, dy]) {
    let best = null;
    let least = Infinity;
    for (const one of this.nodes.values()) {
      const along = (one.x - node.x) * dx + (one.y - node.y) * dy;
      const across = Math.abs((one.x - node.x) * dy) + Math.abs((one.y - node.y) * dx);
      if (one !== node && along > 1 && along + 3 * across < least) [best, least] = [one, along + 3 * across];
    }
    return best;
  }
}

const anchor = (list) => ({ distinct_a: "end", common: "middle", distinct_b: "start" })[list];

function label(node, displays) {
  if (node.kind === "phrase") return displays.get(node.phrase) || node.phrase.replaceAll("@@", " + ");
  return node.title || node.id || "the text";
}
