import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SettingError } from '../../../core/config/parsers.ts';
import { readSettings } from '../../../core/config/settings.ts';
import { startWorker } from '../../../layers/tools/worker/worker-process.ts';
import { installedTools } from '../../support/installed-tools.ts';

const HEADER = '# Netscape HTTP Cookie File';
const COOKIE = '.media.example\tTRUE\t/\tFALSE\t2147483647\tsid\ts3cret';
const ALL = [
  HEADER,
  '# a comment',
  '#\tTRUE\tin\ta\tcomment\twith\ttabs',
  'no {"JSON"}',
  'no{"JSON"}',
  COOKIE.replace('.media.example\tTRUE', 'media.example\tFALSE'),
  '',
  'words',
  COOKIE,
  `#HttpOnly_${COOKIE}`,
  COOKIE.replace('2147483647', '0'),
  '',
].join('\n');
/** The subdomain flag is TRUE, but the domain has no leading dot. */
const CONTRADICTION = `${HEADER}\n${COOKIE.slice(1)}\n`;

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'reelay-cookies-test-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

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

  it.each([
    ['its line 2 cannot be read', CONTRADICTION],
    ['its line 2 cannot be read', `${HEADER}\nx#HttpOnly_${COOKIE}\n`],
    ['it is not UTF-8', Buffer.from([0x23, 0xff])],
    ['its first line is not "# Netscape HTTP Cookie File"', ''],
  ])('gives the reason of a rejection: %s', async (reason, content) => {
    const file = await write(content);
    expect(() => cookiesOf(file)).toThrow(
      expect.objectContaining({ message: `COOKIES_FILE must be a Netscape cookies file: ${reason}` }),
    );
  });

  it('rejects a missing file with its path and the system error', () => {
    const file = join(dir, 'missing.txt');
    expect(() => cookiesOf(file)).toThrow(
      expect.objectContaining({
        message: `COOKIES_FILE must be a file that can be read: ${file} (ENOENT)`,
        cause: expect.objectContaining({ code: 'ENOENT' }),
      }),
    );
  });

  it.each([
    ['empty', ''],
    ['JSON', '[{"domain":"media.example","name":"sid","value":"s3cret"}]'],
    ['JSON behind the header', `${HEADER}\n{"name":"s3cret"}\n`],
    ['without its header', `${COOKIE}\n`],
    ['a file with a byte order mark', `\ufeff${HEADER}\n${COOKIE}\n`],
    ['in contradiction with itself', CONTRADICTION],
    ['no text', Buffer.from([0x23, 0xff, 0xfe, 0x0a])],
  ])('rejects %s', async (_, content) => {
    const file = await write(content);
    const act = () => cookiesOf(file);
    expect(act).toThrow(SettingError);
    expect(act).toThrow(/^COOKIES_FILE must be a Netscape cookies file: [^\n]+$/);
    expect(act).not.toThrow('s3cret');
  });

  it('accepts and rejects what yt-dlp does', async () => {
    const { ytDlp } = await installedTools();
    const startWith = async (content: string) => {
      const cookiesFile = await write(content);
      await (await startWorker({ ytDlp, concurrency: 1, memoryBytes: 2 ** 29, cookiesFile })).close();
    };
    await startWith(ALL);
    await expect(startWith(CONTRADICTION)).rejects.toThrow('ended before it was ready');
  });
});
