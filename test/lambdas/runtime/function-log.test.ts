import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFunctionLog } from '../../../lambdas/runtime/function-log.ts';

const LINK = 'https://user:pass@media.example/watch?token=hush#part';

let lines: string[];

beforeEach(() => {
  lines = [];
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0);
});
afterEach(() => vi.restoreAllMocks());

const written = () => JSON.parse(lines.at(-1) ?? '{}');

describe.each(['info', 'warn', 'error'] as const)('%s', (level) => {
  it('writes one line of JSON with its fields', () => {
    createFunctionLog()[level]('It happened', { count: 3, names: ['a'] });
    expect(lines).toHaveLength(1);
    expect(written()).toMatchObject({ level: level.toUpperCase(), message: 'It happened', count: 3, names: ['a'] });
  });

  it.each([
    ['an error', () => new Error(`No answer from ${LINK}`)],
    ['its causes', () => new Error('It failed', { cause: new Error(`No answer from ${LINK}`) })],
    ['a text', () => `Error: no answer from ${LINK}`],
    ['a list', () => [LINK]],
    ['an error within', () => ({ first: [{ error: new Error(`No answer from ${LINK}`) }] })],
    ['an error of several', () => ({ all: new AggregateError([new Error(LINK)], LINK) })],
    ['what an error bears', () => Object.assign(new Error(`No answer from ${LINK}`), { link: LINK, headers: [LINK] })],
    ['a URL', () => new URL(LINK)],
  ])('cuts a link in %s down to host and path', (_, make) => {
    createFunctionLog()[level]('It failed', { error: make() });
    expect(lines).toHaveLength(1);
    expect(lines.join('')).toContain('https://media.example/watch');
    expect(lines.join('')).not.toMatch(/hush|user|pass|part/);
  });

  it('cuts links in its message down too', () => {
    createFunctionLog()[level](`No answer from ${LINK}`);
    expect(written().message).toBe('No answer from https://media.example/watch');
  });

  it('says where an error comes from', () => {
    createFunctionLog()[level]('It failed', { error: new TypeError('odd') });
    expect(written().error).toMatch(/^TypeError: odd\n\s+at .*function-log\.test\.ts/);
  });
});
