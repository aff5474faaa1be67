import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFunctionLog } from '../../../lambdas/function-environment.ts';

const LINK = 'https://us3r:pa55@media.example/watch?token=hu5h#p4rt';

let lines: string[];

beforeEach(() => {
  lines = [];
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0);
});
afterEach(() => vi.restoreAllMocks());

const written = () => JSON.parse(lines.at(-1) ?? '{}');

describe.each(['info', 'warn', 'error'] as const)('createFunctionLog: %s', (level) => {
  it('writes one line of JSON with its fields', () => {
    createFunctionLog()[level]('It happened', { count: 3, names: ['a'] });
    expect(lines).toHaveLength(1);
    expect(written()).toMatchObject({ level: level.toUpperCase(), message: 'It happened', count: 3, names: ['a'] });
  });

  it.each([
    ['an error', () => new Error(`No answer from ${LINK}`)],
    ['the causes of an error', () => new Error('Request failed', { cause: new Error(`No answer from ${LINK}`) })],
    ['a string', () => `Error: no answer from ${LINK}`],
    ['an array', () => [LINK]],
    ['a nested error', () => ({ first: [{ error: new Error(`No answer from ${LINK}`) }] })],
    ['an AggregateError', () => ({ all: new AggregateError([new Error(LINK)], LINK) })],
    [
      'properties of an error',
      () => Object.assign(new Error(`No answer from ${LINK}`), { link: LINK, headers: [LINK] }),
    ],
    ['a URL', () => new URL(LINK)],
  ])('reduces a URL to host and path in %s', (_, make) => {
    createFunctionLog()[level]('It failed', { error: make() });
    expect(lines).toHaveLength(1);
    expect(lines.join('')).toContain('https://media.example/watch');
    expect(lines.join('')).not.toMatch(/hu5h|us3r|pa55|p4rt/);
  });

  it('reduces URLs in the message to host and path', () => {
    createFunctionLog()[level](`No answer from ${LINK}`);
    expect(written().message).toBe('No answer from https://media.example/watch');
  });

  it('includes the stack of an error', () => {
    createFunctionLog()[level]('It failed', { error: new TypeError('odd') });
    expect(written().error).toMatch(/^TypeError: odd\n\s+at .*function-log\.unit\.test\.ts/);
  });
});
