import { describe, expect, it } from 'vitest';
import { heapClasses, heapGrowth } from '../../bench/heap-snapshot.ts';

type Edge = readonly [type: 'property' | 'element' | 'weak', name: string | number, to: string];

const NODE_TYPES = ['synthetic', 'object', 'string'];
const EDGE_TYPES = ['property', 'element', 'weak'];

/** A snapshot of objects `[constructor, bytes, …edges]` by id, the root first. */
function snapshotOf(objects: Readonly<Record<string, readonly [string, number, ...Edge[]]>>) {
  const strings: string[] = [];
  const ids = Object.keys(objects);
  const text = (value: string) => (strings.includes(value) ? strings.indexOf(value) : strings.push(value) - 1);
  const nodes = Object.values(objects).flatMap(([name, bytes, ...edges], index) => [
    index === 0 ? 0 : 1,
    text(name),
    bytes,
    edges.length,
  ]);
  const edges = Object.values(objects).flatMap(([, , ...own]) =>
    own.flatMap(([type, name, to]) => [
      EDGE_TYPES.indexOf(type),
      typeof name === 'string' ? text(name) : name,
      ids.indexOf(to) * 4,
    ]),
  );
  const meta = {
    node_fields: ['type', 'name', 'self_size', 'edge_count'],
    node_types: [NODE_TYPES] as [string[]],
    edge_fields: ['type', 'name_or_index', 'to_node'],
    edge_types: [EDGE_TYPES] as [string[]],
  };
  return heapClasses({ snapshot: { meta }, nodes, edges, strings });
}

const withCache = (entries: number) => {
  const names = Array.from({ length: entries }, (_, index) => `entry${index}`);
  return snapshotOf({
    root: ['root', 0, ['property', 'cache', 'cache'], ['property', 'other', 'other']],
    cache: ['Cache', 10, ...names.map((name, index): Edge => ['element', index, name])],
    other: ['Other', 10, ['weak', 'last', 'lost'], ['property', 'shared', 'shared']],
    shared: ['Shared', 1000],
    lost: ['Lost', 1000],
    ...Object.fromEntries(
      names.map((name, index) => [
        name,
        [
          'Entry',
          100,
          ['property', 'shared', 'shared'] as Edge,
          // As in a list.
          ...(index + 1 < entries ? [['property', 'next', `entry${index + 1}`] as Edge] : []),
        ],
      ]),
    ),
  });
};

describe('a heap snapshot', () => {
  it('attributes to a class what would be freed with its objects', () => {
    const classes = withCache(3);
    expect(classes.get('Cache')).toMatchObject({ count: 1, selfBytes: 10, retainedBytes: 310 });
    expect(classes.get('Entry')).toMatchObject({ count: 3, selfBytes: 300, retainedBytes: 300 });
    expect(classes.get('Other')?.retainedBytes).toBe(10);
  });

  it('counts objects once that dominate others of their class', () => {
    const classes = snapshotOf({
      root: ['root', 0, ['property', 'list', 'a']],
      a: ['Link', 10, ['property', 'next', 'b']],
      b: ['Link', 10, ['property', 'next', 'c'], ['property', 'first', 'a']],
      c: ['Link', 10],
    });
    expect(classes.get('Link')).toMatchObject({ count: 3, selfBytes: 30, retainedBytes: 30 });
  });

  it('leaves out what is only weakly reachable', () => {
    expect(withCache(1).get('Lost')).toBeUndefined();
  });

  it('names what has grown, and how it is reached', () => {
    expect(heapGrowth(withCache(1), withCache(200))).toEqual([
      'Entry: retained 0 kB → 20 kB, own 0 kB → 20 kB, number 1 → 200; root.cache → Cache[199] → Entry',
      'Cache: retained 0 kB → 20 kB, own 0 kB → 0 kB, number 1 → 1; root.cache → Cache',
    ]);
  });
});
