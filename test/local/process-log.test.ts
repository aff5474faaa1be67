import { describe, expect, it } from 'vitest';
import { createProcessLog } from '../../local/process/process-log.ts';

const LINK = 'https://user:pass@media.example/watch?token=hush';

function setUp() {
  const lines: string[] = [];
  return { lines, log: createProcessLog({ write: (line) => void lines.push(line) }) };
}

describe('createProcessLog', () => {
  it.each([
    ['warn', 40],
    ['error', 50],
  ] as const)('writes one line of JSON with its fields (%s)', (name, level) => {
    const { lines, log } = setUp();
    log[name]('It happened', { count: 3, text: 'as said', list: [1], nothing: null });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        level,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        msg: 'It happened',
        ...{ count: 3, text: 'as said', list: [1], nothing: null },
      },
    ]);
  });

  it('accepts a message without fields', () => {
    const { lines, log } = setUp();
    log.error('It happened');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'It happened' });
  });

  it('omits info messages', () => {
    const { lines, log } = setUp();
    log.info('It went well', { count: 1 });
    expect(lines).toEqual([]);
  });

  it.each(['error', 'reason'])('writes message, causes and stack of an error (%s)', (name) => {
    const { lines, log } = setUp();
    log.warn('It failed', { [name]: new Error('It broke', { cause: new TypeError('odd') }) });
    const text = JSON.parse(lines[0] ?? '')[name];
    expect(text).toMatch(/^Error: It broke\n\s+at .*process-log\.test\.ts.*TypeError: odd/s);
  });

  it.each([
    ['an error', new Error(`No answer from ${LINK}`)],
    ['a cause', new Error('It failed', { cause: new Error(LINK) })],
    ['what was said', `Error opening ${LINK}`],
  ])('reduces URLs to host and path (%s)', (_, error) => {
    const { lines, log } = setUp();
    log.error('It failed', { error });
    expect(lines[0]).toContain('https://media.example/watch');
    expect(lines[0]).not.toMatch(/hush|user|pass/);
  });
});
