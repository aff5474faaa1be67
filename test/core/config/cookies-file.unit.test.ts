import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SettingError } from '../../../core/config/parsers.ts';
import { readSettings } from '../../../core/config/settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { ALL, CONTRADICTION, COOKIE, HEADER } from './cookies-content.ts';

const dir = await temporaryFolder();

const write = async (content: string | Buffer): Promise<string> => {
  const file = join(dir, 'cookies.txt');
  await writeFile(file, content);
  return file;
};
const cookiesOf = (file: string) => readSettings({ COOKIES_FILE: file }).cookiesFile;
describe('COOKIES_FILE', () => {
  it('becomes an absolute path', async () => {
    const file = await write(`${HEADER}\n${COOKIE}\n`);
    expect(cookiesOf(relative(process.cwd(), file))).toBe(file);
  });

  it.each([
    ['the shortest', HEADER],
    ['with the header of other programs', `# HTTP Cookie File\n\n${COOKIE}\n`],
    ['with line ends of Windows', `${HEADER}\r\n${COOKIE}\r\n`],
    ['with all that yt-dlp reads or skips', ALL],
  ])('accepts a file %s', async (_, content) => {
    const file = await write(content);
    expect(cookiesOf(file)).toBe(file);
  });

  it.each<[string, string | Buffer, string]>([
    ['in contradiction with itself', CONTRADICTION, 'its line 2 cannot be read'],
    ['with letters before a cookie', `${HEADER}\nx#HttpOnly_${COOKIE}\n`, 'its line 2 cannot be read'],
    ['with JSON behind the header', `${HEADER}\n{"name":"s3cret"}\n`, 'its line 2 cannot be read'],
    ['that is not UTF-8', Buffer.from([0x23, 0xff, 0xfe, 0x0a]), 'it is not UTF-8'],
    ...['', '[{"name":"sid","value":"s3cret"}]', `${COOKIE}\n`, `\ufeff${HEADER}\n${COOKIE}\n`].map(
      (content): [string, string, string] => [
        `that begins ${JSON.stringify(content.slice(0, 9))}`,
        content,
        'its first line is not "# Netscape HTTP Cookie File"',
      ],
    ),
  ])('rejects a file %s with the reason, and no part of its cookies', async (_, content, reason) => {
    const file = await write(content);
    expect(() => cookiesOf(file)).toThrow(new SettingError(`COOKIES_FILE must be a Netscape cookies file: ${reason}`));
  });

  it('rejects a missing file with its path and the system error', () => {
    const file = join(dir, 'missing.txt');
    expect(() => cookiesOf(file)).toThrow(
      expect.objectContaining({
        message: `COOKIES_FILE must be a Netscape cookies file: ${file} cannot be read (ENOENT)`,
        cause: expect.objectContaining({ code: 'ENOENT' }),
      }),
    );
  });
});

describe('COOKIES_DIR', () => {
  const sitesOf = async (files: Readonly<Record<string, string>>) => {
    const folder = await temporaryFolder();
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    return { folder, read: () => readSettings({ COOKIES_DIR: folder }).cookiesDir };
  };
  const VALID = `${HEADER}\n${COOKIE}\n`;

  it('becomes the absolute paths of its text files, by name', async () => {
    const { folder, read } = await sitesOf({
      'youtube.com.txt': VALID,
      'a.example.TXT': VALID,
      README: '',
      '.x.txt': '',
    });
    expect(read()).toEqual([join(folder, 'a.example.TXT'), join(folder, 'youtube.com.txt')]);
    expect(readSettings({ COOKIES_DIR: relative(process.cwd(), folder) }).cookiesDir).toEqual(read());
  });

  it('is rejected with the name of an invalid file, and no part of its cookies', async () => {
    const { read } = await sitesOf({ 'good.txt': VALID, 'youtube.com.txt': CONTRADICTION });
    const message = 'COOKIES_DIR/youtube.com.txt must be a Netscape cookies file: its line 2 cannot be read';
    expect(read).toThrow(new SettingError(message));
  });

  it('is rejected when it is missing, has no text file, or has a folder instead of one', async () => {
    const { folder, read } = await sitesOf({});
    expect(read).toThrow(/^COOKIES_DIR must be a folder [^\n]+ has no \.txt file$/);
    await mkdir(join(folder, 'site.txt'));
    expect(read).toThrow(/^COOKIES_DIR\/site.txt must be [^\n]+\(EISDIR\)$/);
    expect(() => readSettings({ COOKIES_DIR: join(folder, 'missing') })).toThrow(
      /^COOKIES_DIR must be [^\n]+\(ENOENT\)$/,
    );
  });
});

describe('YT_DLP_PLUGINS', () => {
  const PLUGINS = join(import.meta.dirname, '../../yt-dlp-worker/plugin');

  it('becomes an absolute path', () =>
    expect(readSettings({ YT_DLP_PLUGINS: relative(process.cwd(), PLUGINS) }).ytDlpPlugins).toBe(PLUGINS));

  it('accepts archives', async () => {
    const folder = await temporaryFolder();
    expect(() => readSettings({ YT_DLP_PLUGINS: folder })).toThrow(/^YT_DLP_PLUGINS must be [^\n]+ has none$/);
    await writeFile(join(folder, 'provider.zip'), '');
    expect(readSettings({ YT_DLP_PLUGINS: folder }).ytDlpPlugins).toBe(folder);
  });

  it.each([join(PLUGINS, 'missing'), import.meta.filename])('rejects %s', (folder) =>
    expect(() => readSettings({ YT_DLP_PLUGINS: folder })).toThrow(
      /^YT_DLP_PLUGINS must be [^\n]+ cannot be read [^\n]+$/,
    ),
  );
});
