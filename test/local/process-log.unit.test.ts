import { describe, expect, it } from 'vitest';
import { createProcessLog, type LogFormat } from '../../local/terminal.ts';

const LINK = 'https://us3r:pa55@media.example/watch?token=hu5h';

function setUp(format?: LogFormat) {
  const lines: string[] = [];
  const write = (line: string | Uint8Array) => lines.push(String(line)) > 0;
  return { lines, log: createProcessLog({ write }, { interrupt: (work) => work() }, format) };
}

describe('createProcessLog in JSON', () => {
  it.each([
    ['warn', 40],
    ['error', 50],
  ] as const)('writes one line of JSON with its fields (%s)', (name, level) => {
    const { lines, log } = setUp('json');
    log[name]('It happened', { count: 3, text: 'as said', list: [1], nothing: null });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        level,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        msg: 'It happened',
        count: 3,
        text: 'as said',
        list: [1],
        nothing: null,
      },
    ]);
  });

  it('accepts a message without fields, and omits info messages', () => {
    const { lines, log } = setUp('json');
    log.info('It went well', { count: 1 });
    log.error('It happened');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['It happened']);
  });

  it.each(['error', 'reason'])('writes message, causes and stack of an error (%s)', (name) => {
    const { lines, log } = setUp('json');
    log.warn('It failed', { [name]: new Error('It broke', { cause: new TypeError('odd') }) });
    const text = JSON.parse(lines[0] ?? '')[name];
    expect(text).toMatch(/^Error: It broke\n\s+at .*process-log\.unit\.test\.ts.*TypeError: odd/s);
  });

  it.each([
    ['an error', new Error(`No answer from ${LINK}`)],
    ['a cause', new Error('It failed', { cause: new Error(LINK) })],
    ['what was said', `Error opening ${LINK}`],
  ])('reduces URLs to host and path (%s)', (_, error) => {
    const { lines, log } = setUp('json');
    log.error('It failed', { error });
    expect(lines[0]).toContain('https://media.example/watch');
    expect(lines[0]).not.toMatch(/hu5h|us3r|pa55/);
  });
});

describe('createProcessLog', () => {
  it('writes plain lines without info messages and secrets', () => {
    const { lines, log } = setUp();
    log.info('It went well');
    log.warn('It failed', { tool: 'yt-dlp', reason: `No answer from ${LINK}`, names: ['a', 'b'] });
    log.warn('It failed', { error: new Error('It broke', { cause: new TypeError('odd') }) });
    expect(lines).toEqual([
      'Warning: It failed (tool: yt-dlp, reason: No answer from https://media.example/watch, names: a,b)\n',
      'Warning: It failed (error: Error: It broke ← TypeError: odd)\n',
    ]);
  });

  it('writes the stack of an error below its line', () => {
    const { lines, log } = setUp();
    log.error('Service failed', { error: new Error('It broke'), pid: 7 });
    expect(lines.join('')).toMatch(
      /^Error: Service failed \(pid: 7\)\nError: It broke\n\s+at .*process-log\.unit\.test\.ts/,
    );
  });

  it('passes on no sequence that controls the terminal', () => {
    const { lines, log } = setUp();
    log.error('It failed', { reason: '\u001b[2Jone\ntwo', error: '\u001b]0;title\u0007' });
    expect(lines.join('')).toBe('Error: It failed (reason:  [2Jone two)\n ]0;title \n');
  });
});
