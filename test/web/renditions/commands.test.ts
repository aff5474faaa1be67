import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { type CommandOptions, curlCommand, likelyShell, ytDlpCommand } from '../../../web/src/renditions/commands.ts';

const URL_OF_STREAM = 'https://reelay.example/api/Stream/Media/K-_1?format=mp3';

/** The arguments a real shell passes to the program. */
function argumentsOf(line: string): string[] {
  const program = line.split(' ', 1)[0];
  const out = execFileSync('bash', ['-c', `${program}() { printf '%s\\0' "$@"; }\n${line}`], { encoding: 'utf8' });
  return out.split('\0').slice(0, -1);
}

const command = (changes: Partial<CommandOptions> = {}): CommandOptions => ({
  url: URL_OF_STREAM,
  fileName: 'Some title.mp4',
  canResume: true,
  ...changes,
});

const NAMES: [what: string, fileName: string, asArgument: string][] = [
  ['a plain name', 'Some title.mp4', 'Some title.mp4'],
  ['single quotes', "It's 'here'.mp4", "It's 'here'.mp4"],
  ['a command in it', '$(touch x) `id` ; rm -rf ~ & | > y.mp4', '$(touch x) `id` ; rm -rf ~ & | > y.mp4'],
  ['an end of the quote', "'; id; '.mp4", "'; id; '.mp4"],
  ['lines', 'a\nid\r\nb.mp4', 'a id b.mp4'],
  ['what a terminal obeys', 'a\u001b[201~id\u0007\u009b.mp4', 'a [201~id .mp4'],
  ['what turns the text around', 'a\u202egnp.exe', 'a gnp.exe'],
  ['double quotes and slashes', 'a"b/c\\d.mp4', 'a b c d.mp4'],
  ['an option', '-O.mp4', './-O.mp4'],
  ['a lone surrogate', 'a\ud800.mp4', 'a\ufffd.mp4'],
  ['nothing', '', 'media'],
  ['history and home', '!! ~ #1 {a,b} *.mp4', '!! ~ #1 {a,b} *.mp4'],
  ['other scripts', 'Ünïcødé 日本語 العربية.mp3', 'Ünïcødé 日本語 العربية.mp3'],
];

describe('curlCommand', () => {
  it.each(NAMES)('quotes a name with %s', (_, fileName, asArgument) => {
    const line = curlCommand(command({ fileName }));
    expect(line).not.toMatch(/[\r\n]/);
    expect(argumentsOf(line)).toEqual(['-fL', '--retry', '5', '-C', '-', '-o', asArgument, URL_OF_STREAM]);
  });

  it('does not resume without ranges', () => {
    expect(argumentsOf(curlCommand(command({ canResume: false })))).toEqual([
      '-fL',
      '-o',
      'Some title.mp4',
      URL_OF_STREAM,
    ]);
  });

  it('escapes the URL', () => {
    const url = `https://a.example/x'y"z?a=[1-3]&b={c,d}&e=$(id)\`f\`\n;g`;
    const address = argumentsOf(curlCommand(command({ url }))).at(-1);
    expect(address).toBe('https://a.example/x%27y%22z?a=%5B1-3%5D&b=%7Bc,d%7D&e=$(id)%60f%60;g');
  });
});

describe('ytDlpCommand', () => {
  it('escapes template characters', () => {
    const line = ytDlpCommand(command({ fileName: '100% %(title)s.mp4', canResume: false }));
    expect(argumentsOf(line.replace('yt-dlp', 'ytdlp'))).toEqual([
      '--no-continue',
      '-o',
      '100%% %%(title)s.mp4',
      URL_OF_STREAM,
    ]);
  });
});

describe('PowerShell', () => {
  it.each([
    ['a plain name', 'Some title.mp4', `'Some title.mp4'`],
    [
      'every quote PowerShell accepts',
      "a'b\u2018c\u2019d\u201ae\u201b.mp4",
      `'a''b\u2018\u2018c\u2019\u2019d\u201a\u201ae\u201b\u201b.mp4'`,
    ],
    ['what it would expand', '$env:PATH $(id) `n.mp4', `'$env:PATH $(id) \`n.mp4'`],
    ['lines', 'a\r\nb.mp4', `'a b.mp4'`],
  ])('is handed %s', (_, fileName, quoted) => {
    const line = curlCommand(command({ fileName, shell: 'powershell' }));
    expect(line).toBe(`curl.exe -fL --retry 5 -C - -o ${quoted} '${URL_OF_STREAM}'`);
  });

  it('is the shell on Windows', () => {
    expect(likelyShell('Mozilla/5.0 (Windows NT 10.0; Win64; x64)')).toBe('powershell');
    expect(likelyShell('Mozilla/5.0 (X11; Linux x86_64)')).toBe('posix');
  });
});
