import { describe, expect, it } from 'vitest';
import { completionFor } from '../../clients/reelay-client/src/cli/completion.ts';
import { LISTED, parseCommand, USAGE } from '../../clients/reelay-client/src/cli/options.ts';
import { createProgressBar, formatBytes, progressLine } from '../../clients/reelay-client/src/cli/progress-bar.ts';
import { describeTaller, reasonOf } from '../../clients/reelay-client/src/cli/run.ts';
import { safeFileName } from '../../clients/reelay-client/src/files/index.ts';
import { ReelayError } from '../../clients/reelay-client/src/index.ts';

const LINK = 'https://example.com/video';

describe('the reason of a failure', () => {
  it.each([
    ['gone', { title: 'Resource Not Found' }, 'The site no longer has it'],
    ['site-error', { title: 'Fetch Failed' }, 'The site answered with an error: try again in a moment'],
    ['drm', { title: 'Fetch Failed' }, 'It is protected'],
    ['bad-url', { title: 'Bad Request' }, 'The link is not valid'],
    ['unsupported', { detail: 'MP4 cannot hold it.' }, 'MP4 cannot hold it'],
    ['of-later', { title: 'Later' }, 'Later'],
  ])('is by its type: %s', (code, facts, reason) => expect(reasonOf(new ReelayError(code, facts))).toBe(reason));
});

describe('the command line', () => {
  it('has the parameters of Get', () => {
    const args = [
      LINK,
      '-q',
      'mp3',
      '--bitrate',
      '320',
      '--tags',
      '--max-bytes',
      '9000000',
      '--start',
      '1.5',
      '-o',
      'a.mp3',
      '-f',
      '--quiet',
    ];
    expect(parseCommand(args, {})).toEqual({
      name: 'download',
      options: {
        link: LINK,
        instance: 'http://127.0.0.1:8080',
        accessKey: undefined,
        selection: { quality: 'mp3', bitrate: '320', start: '1.5', maxBytes: '9000000', tags: 'true' },
        output: 'a.mp3',
        overwrites: true,
        isQuiet: true,
        isJson: false,
        isUrlOnly: false,
        isLibrary: false,
        deletes: false,
        everyMinutes: undefined,
      },
    });
  });

  it('takes the instance from its option, else from the environment', () => {
    const environment = { REELAY_INSTANCE: 'https://reelay.example/', REELAY_ACCESS_KEY: 'key' };
    expect(parseCommand([LINK], environment)).toMatchObject({
      options: { instance: 'https://reelay.example/', accessKey: 'key' },
    });
    expect(parseCommand([LINK, '-i', 'http://other'], environment)).toMatchObject({
      options: { instance: 'http://other' },
    });
  });

  it.each([
    [[], 'The URL is missing'],
    [['video'], 'video is not an http or https URL'],
    [[LINK, LINK], /Expected one URL, also got/],
    [[LINK, '--instance', 'reelay'], 'reelay is not the URL of an instance'],
    [[LINK, '--qualty', 'best'], 'There is no option --qualty; the nearest one is --quality'],
    [[LINK, '--outp'], 'There is no option --outp; the nearest one is --output'],
    [[LINK, '--hlep'], 'There is no option --hlep; the nearest one is --help'],
    [[LINK, `--${'a'.repeat(10_000)}`], /^There is no option --a+$/],
    [[LINK, '-Z'], /^There is no option -Z$/],
    [[LINK, '-o'], '-o needs a value: FILE'],
    [[LINK, '--output', '--force'], '--output needs a value: FILE'],
    [[LINK, '--quiet=yes'], '--quiet takes no value'],
    [[LINK, '--json', '-o', '-'], /^--json needs standard output for itself/],
    [[LINK, '--delete'], /^--delete needs --output FOLDER/],
    [[LINK, '--delete', '-o', 'a', '--format', 'zip'], /^--delete needs --output FOLDER/],
    [[LINK, '--strm', '-o', '-'], /^--strm needs --output FOLDER/],
    [[LINK, '--every', '60'], /^--every needs --output FOLDER/],
    [[LINK, '--limit', '1.5', '-o', 'a/'], /^--limit 1.5 is not a number of entries/],
    [[LINK, '--every', '0', '-o', 'a/'], /^--every 0 is not a number of minutes/],
    [[LINK, '--every', '36000', '-o', 'a/'], /^--every 36000 is not a number of minutes/],
  ])('%j is refused', (args, message) => expect(() => parseCommand(args, {})).toThrow(message));
});

it('takes a negative number as a value', () => {
  expect(parseCommand([LINK, '--start', '-300'], {})).toMatchObject({ options: { selection: { start: '-300' } } });
});

it('has every option in its help', () => {
  for (const [name, { short, text }] of LISTED) {
    expect(USAGE).toContain(`${short ? `-${short}, ` : '    '}--${name}`);
    expect(USAGE.replaceAll(/\s+/g, ' ')).toContain(text);
  }
});

it('refuses completion for a shell that it does not know', () => {
  expect(() => completionFor('ksh')).toThrow('--completion ksh is not bash, zsh or fish');
});

describe('a height that nothing keeps to', () => {
  const items = [{ video: { renditions: ['1080p60', '360p', '180p'].map((label) => ({ label })) } }] as never;
  it.each([
    ['360p', undefined, '360p', undefined],
    ['2160p', undefined, '1080p60', undefined],
    ['100p', undefined, '360p', 'Nothing as low as 100p: took 360p'],
    [
      '200p',
      undefined,
      '360p',
      'Nothing as low as 200p that plays everywhere without a flaw: took 360p; --codec any takes others',
    ],
    ['200p', 'any', '360p', 'Nothing as low as 200p without a flaw: took 360p'],
    ['200p', undefined, '129 kbps', undefined],
  ])('of %s (%s) is said: %s', (quality, codec, label, said) =>
    expect(describeTaller({ quality, codec }, label, items)).toBe(said),
  );
});

describe('progress', () => {
  it.each([
    [{ receivedBytes: 0, totalBytes: 1000 }, '[------------------------]    0 %  0 B of 1.00 kB'],
    [
      { receivedBytes: 12_500_000, totalBytes: 50_000_000, bytesPerSecond: 3_100_000 },
      '[######------------------]   25 %  12.5 MB of 50.0 MB  3.10 MB/s  0:13',
    ],
    [{ receivedBytes: 999, totalBytes: 1000 }, '[#######################-]   99 %  999 B of 1.00 kB'],
    [{ receivedBytes: 1500, estimatedBytes: 1000 }, '[########################]  100 %  1.50 kB of about 1.00 kB'],
    [{ receivedBytes: 4_000_000_000 }, '4.00 GB'],
  ])('%j is one line', (progress, line) => expect(progressLine(progress, 100)).toBe(line));

  it.each([
    [100, '[######------------------]   25 %  12.5 MB of 50.0 MB  3.10 MB/s  0:13'],
    [60, '[###----------]   25 %  12.5 MB of 50.0 MB  3.10 MB/s  0:13'],
    [50, ' 25 %  12.5 MB of 50.0 MB  3.10 MB/s  0:13'],
    [40, ' 25 %  12.5 MB of 50.0 MB  0:13'],
    [20, ' 25 %  0:13'],
    [10, '0:13'],
    [4, '0:1'],
  ])('of %d columns keeps the time left longest', (columns, line) => {
    const progress = { receivedBytes: 12_500_000, totalBytes: 50_000_000, bytesPerSecond: 3_100_000 };
    expect(progressLine(progress, columns)).toBe(line);
  });

  it('is written at most ten times a second, and at the end', () => {
    const lines: string[] = [];
    let nowMs = 0;
    const bar = createProgressBar({ write: (text) => lines.push(text) }, () => nowMs);
    const update = (receivedBytes: number) =>
      bar.update({ file: 'a', receivedBytes, resumedBytes: 0, totalBytes: 4_000_000, canResume: true });
    for (const [atMs, receivedBytes] of [
      [0, 0],
      [50, 500_000],
      [1000, 2_000_000],
      [1001, 3_000_000],
      [1002, 4_000_000],
    ] as const) {
      nowMs = atMs;
      update(receivedBytes);
    }
    expect(lines.map((line) => /\d+ %.*/.exec(line)?.[0])).toEqual([
      '0 %  0 B of 4.00 MB',
      '50 %  2.00 MB of 4.00 MB  2.00 MB/s  0:01',
      expect.stringMatching(/^100 %/),
    ]);
  });

  it.each([
    [999, '999 B'],
    [999.6, '1.00 kB'],
    [123_456, '123 kB'],
    [5e15, '5.00e+3 TB'],
  ])('%d bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});

describe('the name of a file', () => {
  it.each([
    ['Title.mp4', 'Title.mp4'],
    ['../../etc/passwd', '_.._etc_passwd'],
    ['C:\\a.mp4', 'C__a.mp4'],
    ['.hidden', 'hidden'],
    ['a\u001b[31m\u202eb.mp4', 'a_[31m_b.mp4'],
    ['CON.mp4', '_CON.mp4'],
    ['  ...  ', '_'],
    ['\ud800.mp4', '\ufffd.mp4'],
  ])('of %j is %j', (name, safe) => expect(safeFileName(name)).toBe(safe));

  it('has at most 240 bytes, with its extension and whole characters', () => {
    const name = safeFileName(`${'日'.repeat(200)}.mp4`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(240);
    expect(name).toMatch(/^日+\.mp4$/);
  });
});
