/* The neighbourhood: phrases in three columns, the two sides between them, third documents below.

   Only the edges of the hovered or selected node are emphasized: all edges together are unreadable. */

import { make } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1080;
const ROW = 22;
const TOP = 34;
const COLUMNS = { distinct_a: 250, a: 330, common: 540, b: 750, distinct_b: 830 };
const HEADS = [["distinct_a", "only A"], ["common", "both"], ["distinct_b", "only B"]];
const MAX_LABEL_LETTERS = 30;

function makeSvg(tag, props = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Shorten a label, after a word if possible. */
const shortenLabel = (text) => {
  const letters = [...text];
  if (letters.length <= MAX_LABEL_LETTERS) return text;
  const cut = letters.slice(0, MAX_LABEL_LETTERS - 1).join("");
  return `${cut.includes(" ") ? cut.slice(0, cut.lastIndexOf(" ")).replace(/[ +]+$/, "") : cut}…`;
};

/** The drawing; `select(list, phrase)` is called when a phrase is clicked. */
export class NeighbourhoodGraph {
  constructor(graph, answer, select) {
    this.select = select;
    this.chosen = "";
    const displays = new Map();
    for (const list of ["common", "distinct_a", "distinct_b"]) for (const entry of answer[list]) displays.set(entry.phrase, entry.display);
    this.heads = HEADS.filter(([list]) => answer[list].length);
    const drawn = graph.nodes.filter((node) => !node.list || answer[node.list].length);
    this.nodes = new Map(drawn.map((node) => [node.key, { ...node, label: getNodeLabel(node, displays) }]));
    this.edges = graph.edges.filter((edge) => this.nodes.has(edge.phrase) && this.nodes.has(edge.document));
    this.height = this.#layOut();
    this.said = make("p", { class: "said", "aria-live": "polite" });
    this.node = make("div", {}, make("div", { class: "canvas" }, this.#draw()), this.said, make("p", { class: "muted keys" }, "Click a phrase or a document to see its connections. With the keyboard, move with the arrow keys and press Enter to select."));
    this.#highlightNode(null);
  }

  /** Set x and y of every node; return the height of the drawing. */
  #layOut() {
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
    const root = (this.root = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${this.height}`, role: "group", "aria-label": "Phrases, the two sides and the documents that connect them" }));
    const most = Math.max(1, ...this.edges.map((edge) => edge.weight));
    for (const edge of this.edges) {
      const from = this.nodes.get(edge.phrase);
      const to = this.nodes.get(edge.document);
      const bend = to.side ? 0 : 0.5 * (to.y - from.y);
      const path = `M${from.x},${from.y} C${from.x},${from.y + bend} ${to.x},${to.y - bend} ${to.x},${to.y}`;
      edge.line = makeSvg("path", { d: path, class: `edge ${to.side ? `side ${to.side}` : "third"}`, "stroke-width": (0.6 + (1.8 * edge.weight) / most).toFixed(2) });
      root.append(edge.line);
    }
    for (const [name, text] of this.heads) root.append(makeSvg("text", { x: COLUMNS[name], y: 14, class: "head", "text-anchor": getTextAnchor(name) }, text));
    if (this.third) root.append(makeSvg("text", { x: WIDTH / 2, y: this.height - 8, class: "head", "text-anchor": "middle" }, "documents that connect them"));
    for (const node of this.nodes.values()) root.append((node.drawn = this.#makeNode(node)));
    [...this.nodes.values()][0]?.drawn.setAttribute("tabindex", "0");
    root.addEventListener("pointerleave", () => this.#highlightNode(null));
    return root;
  }

  #makeNode(node) {
    const seen = shortenLabel(node.label);
    const name = node.kind === "phrase" && seen !== node.label ? `${seen} (${node.label})` : node.label; // the accessible name contains the visible one
    const group = makeSvg("g", { "aria-label": name, class: `node ${node.kind} ${node.list || node.side || "third"}`, tabindex: "-1", role: "button", transform: `translate(${node.x} ${node.y})` });
    group.append(makeSvg("title", {}, node.label));
    if (node.kind === "phrase") {
      const at = { distinct_a: -9, common: 0, distinct_b: 9 }[node.list];
      if (node.list === "common") group.append(makeSvg("rect", { x: -105, y: -10, width: 210, height: 20, rx: 10 }));
      else group.append(makeSvg("circle", { r: 4 }));
      group.append(makeSvg("text", { x: at, y: 4.5, "text-anchor": getTextAnchor(node.list) }, seen));
    } else if (node.side) {
      group.append(makeSvg("circle", { r: 14 }), makeSvg("text", { y: 5, "text-anchor": "middle" }, node.side.toUpperCase()));
    } else group.append(makeSvg("rect", { x: -6, y: -6, width: 12, height: 12, rx: 2 }));
    group.addEventListener("pointerenter", () => this.#highlightNode(node));
    group.addEventListener("focus", () => this.#highlightNode(node));
    group.addEventListener("click", () => this.#chooseNode(node));
    group.addEventListener("keydown", (event) => this.#handleKey(event, node));
    return group;
  }

  #chooseNode(node) {
    if (node.kind === "phrase") this.select(node.list, node.phrase);
    else this.chosen = this.chosen === node.key ? "" : node.key;
    this.#highlightNode(node);
  }

  /** Scroll to the middle where the drawing is wider than the page. */
  center() {
    const canvas = this.root.parentElement;
    canvas.scrollLeft = (canvas.scrollWidth - canvas.clientWidth) / 2;
  }

  /** Show the phrase chosen elsewhere on the page. */
  showPhrase(chosen) {
    const found = [...this.nodes.values()].find((node) => node.kind === "phrase" && `${node.list}/${node.phrase}` === chosen);
    this.chosen = found?.key || "";
    this.#highlightNode(null);
  }

  #highlightNode(pointed) {
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
    this.said.textContent = node ? this.#describeNode(node, near) : "";
  }

  #describeNode(node, near) {
    const others = [...near].filter((key) => key !== node.key).map((key) => this.nodes.get(key));
    const names = (nodes) => nodes.slice(0, 5).map((one) => one.label).join(" · ") + (nodes.length > 5 ? ` · and ${nodes.length - 5} more` : "");
    return others.length ? `${node.label}: ${names(others)}` : node.label;
  }

  #handleKey(event, node) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#chooseNode(node);
      return;
    }
    const direction = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    if (!direction) return;
    event.preventDefault();
    const next = this.#findNearest(node, direction);
    if (!next) return;
    node.drawn.setAttribute("tabindex", "-1");
    next.drawn.setAttribute("tabindex", "0");
    next.drawn.focus();
  }

  #findNearest(node, [dx, dy]) {
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

const getTextAnchor = (list) => ({ distinct_a: "end", common: "middle", distinct_b: "start" })[list];

function getNodeLabel(node, displays) {
  if (node.kind === "phrase") return displays.get(node.phrase) || node.phrase.replaceAll("@@", " + ");
  return node.title || node.id || "the text";
}
