import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse } from '@babel/parser';

/** One change of one place of the code that tests should notice. */
export interface Mutant {
  /** Relative to the root, with the line of the place, from 1. */
  readonly file: string;
  readonly line: number;
  /** The text of that line, with its number where the file has it several times. */
  readonly text: string;
  /** Characters that `to` replaces. */
  readonly start: number;
  readonly end: number;
  readonly from: string;
  readonly to: string;
  /** The expression or statement that holds them: code before it says that a test came here. */
  readonly probe: { readonly start: number; readonly end: number; readonly isStatement: boolean };
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly loc: { readonly start: { readonly line: number } };
  readonly [key: string]: unknown;
}

const SWAPPED: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  some: 'every',
  every: 'some',
  find: 'findLast',
  findLast: 'find',
};

/** All mutants of some files, at most one on a line. */
export function mutantsOf(files: readonly string[]): Mutant[] {
  return files.flatMap((file) => {
    const code = readFileSync(file, 'utf8');
    const lines = code.split('\n');
    const found = new Map<number, Mutant>();
    const times = new Map<string, number>();
    const named = (line: string) => {
      const count = (times.get(line) ?? 0) + 1;
      times.set(line, count);
      return count > 1 ? `${line} (${count})` : line;
    };
    visit(parse(code, { sourceType: 'module', plugins: ['typescript'] }).program as unknown as Node, (node) => {
      const change = changeOf(node, code);
      const { line } = node.loc.start;
      if (change === undefined || found.has(line)) return;
      const [start, end, to] = change;
      const probe = { start: node.start, end: node.end, isStatement: node.type.endsWith('Statement') };
      found.set(line, {
        file,
        line,
        text: named(lines[line - 1] ?? ''),
        start,
        end,
        from: code.slice(start, end),
        to,
        probe,
      });
    });
    return [...found.values()];
  });
}

/** Some of them, each as likely as the others. A change elsewhere in the code leaves the sample of a seed as it is. */
export function sampleOf(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const drawn = mutants.map((mutant) => ({
    mutant,
    key: createHash('sha256').update(`${seed} ${mutant.file} ${mutant.text}`).digest('hex'),
  }));
  drawn.sort((a, b) => (a.key < b.key ? -1 : 1));
  return drawn.slice(0, count).map(({ mutant }) => mutant);
}

/** The code of a file with one change in it. */
export function planted(code: string, { start, end, to }: Mutant): string {
  return code.slice(0, start) + to + code.slice(end);
}

/** The code of a file that appends the number of each of its mutants to `record` when a test comes to its place first. */
export function probed(
  code: string,
  mutants: readonly (readonly [number: number, mutant: Mutant])[],
  record: string,
): string {
  const insertions = mutants.flatMap(([number, { probe }]) => {
    // A process in the sandbox may not write, and one in a browser has no files.
    const hit = `(globalThis.$reached${number}??=(()=>{try{process.getBuiltinModule('node:fs').appendFileSync(${JSON.stringify(record)},'${number}\\n')}catch{}return 1})())`;
    return probe.isStatement
      ? [
          { at: probe.start, text: `{${hit};`, isOpening: true },
          { at: probe.end, text: '}', isOpening: false },
        ]
      : [
          { at: probe.start, text: `(${hit},`, isOpening: true },
          { at: probe.end, text: ')', isOpening: false },
        ];
  });
  insertions.sort((a, b) => b.at - a.at || Number(a.isOpening) - Number(b.isOpening));
  return insertions.reduce((text, { at, text: added }) => text.slice(0, at) + added + text.slice(at), code);
}

function changeOf(node: Node, code: string): [start: number, end: number, to: string] | undefined {
  const child = (name: string) => node[name] as Node;
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const { operator } = node as unknown as { operator: string };
      const to = SWAPPED[operator];
      if (to === undefined) return undefined;
      const start = code.indexOf(operator, child('left').end);
      return [start, start + operator.length, to];
    }
    case 'NumericLiteral':
      return [node.start, node.end, `(${code.slice(node.start, node.end)} + 1)`];
    case 'IfStatement':
      return [child('test').start, child('test').end, node.start % 2 === 0 ? 'true' : 'false'];
    case 'ConditionalExpression':
      return [child('test').start, child('test').end, `!(${code.slice(child('test').start, child('test').end)})`];
    case 'CallExpression': {
      const { property, computed } = child('callee') as unknown as { property?: Node; computed?: boolean };
      const to = property === undefined || computed ? undefined : SWAPPED[code.slice(property.start, property.end)];
      return property === undefined || to === undefined ? undefined : [property.start, property.end, to];
    }
    case 'ExpressionStatement':
      return /^(Call|Await|Yield)Expression$/.test(child('expression').type) ? [node.start, node.end, ';'] : undefined;
    default:
      return undefined;
  }
}

function visit(node: Node, seen: (node: Node) => void): void {
  if (/^(TS|Import|ExportAll)/.test(node.type)) {
    // `a as B`, `a!` and `a satisfies B` hold an expression.
    if (node.expression !== undefined) visit(node.expression as Node, seen);
    return;
  }
  if (isLeftOut(node)) return;
  seen(node);
  for (const [name, value] of Object.entries(node)) {
    if (name === 'typeAnnotation' || (name === 'key' && node.computed !== true)) continue;
    for (const child of [value].flat()) if (isNode(child)) visit(child, seen);
  }
}

function isNode(value: unknown): value is Node {
  return typeof (value as Node | null)?.type === 'string' && typeof (value as Node).start === 'number';
}

/** Logs and limits of resources: mutants of them survive by intent. */
function isLeftOut(node: Node): boolean {
  const named = (of: unknown) => (of as { name?: string } | undefined)?.name ?? '';
  if (node.type === 'VariableDeclarator') return /_(BYTES|MS)$/.test(named(node.id));
  const call = node.type === 'ExpressionStatement' ? (node.expression as Node) : node;
  return /^(log|logger|console)$/.test(named((call.callee as Node | undefined)?.object));
}
