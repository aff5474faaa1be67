import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTerminal, type LogFormat } from '../../local/terminal.ts';

const ERASE = '\r\u001b[K';

function setUp(isTTY: boolean, format?: LogFormat) {
  let text = '';
  const write = (part: string) => {
    text += part;
    return true;
  };
  const terminal = createTerminal({ isTTY, write } as never, format, Date.now);
  const take = () => {
    const taken = text;
    text = '';
    return taken;
  };
  return { terminal, take };
}
const fetching = (bytes?: number, totalBytes?: number) =>
  ({ name: 'Downloading yt-dlp', tool: 'yt-dlp', step: 'fetch', bytes, totalBytes }) as never;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('progress on a terminal', () => {
  it('is one line with bytes and seconds, which stays when it ends', () => {
    const { terminal, take } = setUp(true);
    terminal.progress(fetching());
    expect(take()).toBe(`${ERASE}Fetching yt-dlp`);
    terminal.progress(fetching(3_400_000, 34_200_000));
    expect(take()).toBe(`${ERASE}Fetching yt-dlp 3.4 of 34 MB`);
    vi.advanceTimersByTime(2_000);
    expect(take()).toBe([1, 2].map((seconds) => `${ERASE}Fetching yt-dlp 3.4 of 34 MB, ${seconds} s`).join(''));
    terminal.progress(fetching(12_000_000));
    expect(take()).toBe(`${ERASE}Fetching yt-dlp 12 MB, 2 s`);
    terminal.progress({ name: 'Checking yt-dlp', tool: 'yt-dlp', step: 'check' });
    expect(take()).toBe(`${ERASE}Fetching yt-dlp 12 MB, 2 s\n${ERASE}Checking yt-dlp`);
    terminal.done();
    vi.advanceTimersByTime(2_000);
    expect(take()).toBe(ERASE);
  });

  it('stands below other lines', () => {
    const { terminal, take } = setUp(true);
    terminal.progress({ name: 'Waiting' });
    take();
    terminal.say('Listening');
    expect(take()).toBe(`${ERASE}Listening\n${ERASE}Waiting`);
  });
});

describe('progress elsewhere', () => {
  it('is a line at the start and one per quarter', () => {
    const { terminal, take } = setUp(false);
    for (const bytes of [undefined, 1, 24, 26, 49, 51, 100]) terminal.progress(fetching(bytes && bytes * 1e6, 1e8));
    terminal.say('Listening');
    terminal.done();
    vi.advanceTimersByTime(2_000);
    expect(take().split('\n')).toEqual([
      'Fetching yt-dlp 0.0 of 100 MB',
      'Fetching yt-dlp 26 of 100 MB',
      'Fetching yt-dlp 51 of 100 MB',
      'Fetching yt-dlp 100 of 100 MB',
      'Listening',
      '',
    ]);
  });

  it.each([false, true])('is one JSON object per line in that format (on a terminal: %s)', (isTTY) => {
    vi.setSystemTime('2026-11-20');
    const { terminal, take } = setUp(isTTY, 'json');
    terminal.progress(fetching());
    terminal.say('Listening');
    expect(take()).toBe(
      ['Fetching yt-dlp', 'Listening']
        .map((msg) => `${JSON.stringify({ level: 30, time: '2026-11-20T00:00:00.000Z', msg })}\n`)
        .join(''),
    );
  });
});
