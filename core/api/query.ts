import { type OperationId, operationsById, type StreamOperationId } from './operations.ts';
import { requireMp3, type Texts } from './parameters.ts';
import { problems } from './problem.ts';
import type { Selection } from './selection.ts';

/** A decoded query; a repeated parameter is an array. */
export type Query = Readonly<Record<string, string | string[] | undefined>>;

/**
 * What a request selects: each parameter of the operation by its row of the table. A blank one counts as missing: a form sends
 * each field that is left empty.
 * @param query decoded; one of a link to resolve is trimmed
 * @throws Problem 400 for a malformed parameter, one that is given more than once, and a combination that has no meaning
 */
export function readSelection(operationId: OperationId, query: Query | URLSearchParams): Selection {
  const { query: table = {}, defaults } = operationsById[operationId];
  const rows = Object.entries(table);
  const valuesOf = (name: string) =>
    query instanceof URLSearchParams ? query.getAll(name).map((text) => text.trim()) : [query[name] ?? []].flat();
  const sent = new Map(rows.map(([name]) => [name, valuesOf(name).filter((text) => text.trim() !== '')]));
  const texts: Texts = Object.fromEntries([...sent].map(([name, [first]]) => [name, first]));
  let selection = defaults?.(texts) ?? {};
  for (const [name, { isUnique, excludes, select }] of rows) {
    const [text, ...more] = sent.get(name) ?? [];
    if (text === undefined) continue;
    if (isUnique && more.length > 0) throw problems.badRequest(`${name} is given more than once`);
    const other = excludes?.find((each) => texts[each] !== undefined);
    if (other !== undefined) throw problems.badRequest(`${name} cannot be combined with ${other}`);
    selection = { ...selection, ...select?.(text, texts) };
  }
  if (selection.bitrateKbps !== undefined) requireMp3(selection);
  return selection;
}

/** The parameters of a link to an operation that select the same, as far as it has them. */
export function writeSelection(operationId: OperationId, selection: Selection): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, { write }] of Object.entries(operationsById[operationId].query ?? {})) {
    const value = write?.(selection);
    if (value !== undefined) query.append(name, String(value));
  }
  return query;
}

/** The path of a stream that is sent as it is selected. @param key signed where the instance is private */
export function streamPath(operationId: StreamOperationId, key: string, selection: Selection = {}): string {
  const path = operationsById[operationId].path.replace('{key}', key);
  if (Object.values(selection).every((value) => value === undefined)) return path;
  const query = writeSelection(operationId, selection);
  return query.size > 0 ? `${path}?${query}` : path;
}
