import { readFileSync } from 'node:fs';

/** What `v8.writeHeapSnapshot` writes. Nodes and edges are rows of as many numbers as `meta` has fields. */
interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[], ...unknown[]];
      readonly edge_fields: readonly string[];
      readonly edge_types: readonly [readonly string[], ...unknown[]];
    };
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
}

/** The objects of one constructor, or the values of one internal type. */
export interface HeapClass {
  readonly count: number;
  readonly selfBytes: number;
  /** What would be freed with all of them. */
  readonly retainedBytes: number;
  /** How the one that retains most is reached from the roots. */
  readonly path: string;
}

/** @returns classes by name @throws Error when the file is no snapshot */
export const readHeapClasses = (file: string): ReadonlyMap<string, HeapClass> =>
  heapClasses(JSON.parse(readFileSync(file, 'utf8')));

/** The classes that retain more than before, the largest difference first, with their retaining paths: a line each. */
export function heapGrowth(
  before: ReadonlyMap<string, HeapClass>,
  after: ReadonlyMap<string, HeapClass>,
  maxClasses = 12,
): string[] {
  const grown = [...after].map(([name, now]) => {
    const { count = 0, selfBytes = 0, retainedBytes = 0 } = before.get(name) ?? {};
    return { name, now, count, selfBytes, retainedBytes, grownBytes: now.retainedBytes - retainedBytes };
  });
  return grown
    .filter(({ grownBytes }) => grownBytes > 0)
    .sort((a, b) => b.grownBytes - a.grownBytes)
    .slice(0, maxClasses)
    .map(
      ({ name, now, count, selfBytes, retainedBytes }) =>
        `${name}: retained ${kb(retainedBytes)} → ${kb(now.retainedBytes)}, own ${kb(selfBytes)} → ${kb(now.selfBytes)}, number ${count} → ${now.count}; ${now.path}`,
    );
}

const kb = (bytes: number): string => `${Math.round(bytes / 1000)} kB`;

export function heapClasses({ snapshot: { meta }, nodes, edges, strings }: Snapshot): ReadonlyMap<string, HeapClass> {
  const nodeFields = meta.node_fields.length;
  const edgeFields = meta.edge_fields.length;
  const field = (name: string) => meta.node_fields.indexOf(name);
  const edgeField = (name: string) => meta.edge_fields.indexOf(name);
  const [TYPE, NAME, SIZE, EDGES] = [field('type'), field('name'), field('self_size'), field('edge_count')];
  const [EDGE_TYPE, EDGE_NAME, TO] = [edgeField('type'), edgeField('name_or_index'), edgeField('to_node')];
  const [nodeTypes] = meta.node_types;
  const [edgeTypes] = meta.edge_types;
  const count = nodes.length / nodeFields;
  const nodeValue = (node: number, at: number) => nodes[node * nodeFields + at] ?? 0;
  const edgeValue = (edge: number, at: number) => edges[edge * edgeFields + at] ?? 0;
  const target = (edge: number) => edgeValue(edge, TO) / nodeFields;

  const firstEdge = new Uint32Array(count + 1);
  for (let node = 0; node < count; node += 1) firstEdge[node + 1] = (firstEdge[node] ?? 0) + nodeValue(node, EDGES);
  const edgesOf = (node: number) => [firstEdge[node] ?? 0, firstEdge[node + 1] ?? 0] as const;
  const retains = (edge: number) => edgeTypes[edgeValue(edge, EDGE_TYPE)] !== 'weak';
  const className = (node: number): string => {
    const type = nodeTypes[nodeValue(node, TYPE)] ?? '';
    return NAMED.has(type) ? (strings[nodeValue(node, NAME)] ?? '') : `(${type})`;
  };

  const { order, position } = postOrder(count, (node, visit) => {
    const [first, end] = edgesOf(node);
    for (let edge = first; edge < end; edge += 1) if (retains(edge)) visit(target(edge));
  });
  const edgeTo = shortestPaths();
  const dominators = findDominators();

  // Each node comes before the one that dominates it.
  const retained = new Float64Array(count);
  for (const node of order) {
    retained[node] = (retained[node] ?? 0) + nodeValue(node, SIZE);
    const dominator = dominators[node] ?? 0;
    if (node !== 0) retained[dominator] = (retained[dominator] ?? 0) + (retained[node] ?? 0);
  }

  const classes = new Map<string, { count: number; selfBytes: number; retainedBytes: number; largest: number }>();
  for (const node of order) {
    if (nodeTypes[nodeValue(node, TYPE)] === 'synthetic') continue;
    const name = className(node);
    const entry = classes.get(name) ?? { count: 0, selfBytes: 0, retainedBytes: 0, largest: node };
    classes.set(name, entry);
    entry.count += 1;
    entry.selfBytes += nodeValue(node, SIZE);
    if ((retained[node] ?? 0) > (retained[entry.largest] ?? 0)) entry.largest = node;
    if (!isWithin(node, name)) entry.retainedBytes += retained[node] ?? 0;
  }
  return new Map([...classes].map(([name, { largest, ...entry }]) => [name, { ...entry, path: pathTo(largest) }]));

  /** Whether another of its class dominates it, as in a list whose elements refer to the next one. */
  function isWithin(node: number, name: string): boolean {
    for (let at = node, steps = 0; at !== 0 && steps < MAX_STEPS; steps += 1) {
      at = dominators[at] ?? 0;
      if (at !== 0 && className(at) === name) return true;
    }
    return false;
  }

  /** For each node the edge by which a search in breadth reaches it first. */
  function shortestPaths(): Int32Array {
    const reachedBy = new Int32Array(count).fill(-1);
    const queue = [0];
    for (const node of queue) {
      const [first, end] = edgesOf(node);
      for (let edge = first; edge < end; edge += 1) {
        const to = target(edge);
        if (to === 0 || reachedBy[to] !== -1 || !retains(edge)) continue;
        reachedBy[to] = edge;
        queue.push(to);
      }
    }
    return reachedBy;
  }

  function pathTo(node: number): string {
    const steps = [className(node)];
    for (let at = node; at !== 0 && steps.length < MAX_STEPS; ) {
      const edge = edgeTo[at] ?? -1;
      if (edge < 0) break;
      const type = edgeTypes[edgeValue(edge, EDGE_TYPE)];
      const name = edgeValue(edge, EDGE_NAME);
      at = ownerOf(edge);
      const isIndex = type === 'element' || type === 'hidden';
      steps.unshift(`${className(at)}${isIndex ? `[${name}]` : `.${strings[name]}`}`);
    }
    return steps.join(' → ');
  }

  /** The last node whose edges begin at or before this one. */
  function ownerOf(edge: number): number {
    let low = 0;
    let high = count;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((firstEdge[middle] ?? 0) <= edge) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm (2001). */
  function findDominators(): Int32Array {
    const found = new Int32Array(count).fill(-1);
    found[0] = 0;
    const common = (one: number, other: number): number => {
      let [a, b] = [one, other];
      while (a !== b) {
        while ((position[a] ?? 0) < (position[b] ?? 0)) a = found[a] ?? 0;
        while ((position[b] ?? 0) < (position[a] ?? 0)) b = found[b] ?? 0;
      }
      return a;
    };
    for (let changed = true; changed; ) {
      changed = false;
      for (let index = order.length - 1; index >= 0; index -= 1) {
        const node = order[index] ?? 0;
        const [first, end] = edgesOf(node);
        for (let edge = first; edge < end; edge += 1) {
          const to = target(edge);
          if (to === 0 || !retains(edge)) continue;
          const next = found[to] === -1 ? node : common(found[to] ?? 0, node);
          if (next === found[to]) continue;
          found[to] = next;
          changed = true;
        }
      }
    }
    return found;
  }
}

/** Types of nodes of which the name is that of a class, or of a root. */
const NAMED = new Set(['object', 'native', 'synthetic']);
/** Longest path. */
const MAX_STEPS = 40;

/** The nodes that are reached from the first one, each behind those that it leads to, and their places in that order. */
function postOrder(count: number, each: (node: number, visit: (to: number) => void) => void) {
  const position = new Int32Array(count).fill(-1);
  const order: number[] = [];
  const isSeen = new Uint8Array(count);
  isSeen[0] = 1;
  const stack: number[] = [0];
  while (stack.length > 0) {
    const node = stack.pop() ?? 0;
    if (node < 0) {
      position[~node] = order.length;
      order.push(~node);
      continue;
    }
    stack.push(~node);
    each(node, (to) => {
      if (isSeen[to]) return;
      isSeen[to] = 1;
      stack.push(to);
    });
  }
  return { order, position };
}
