import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { silentLog } from '../../../../core/log/index.ts';
import { createOperatorCookies } from '../../../../core/resolve/yt-dlp/operator-cookies.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const LINK = 'https://www.site.example/watch';
const row = (name: string, value: string, { domain = '.site.example', expires = 2_000_000_000, prefix = '' } = {}) =>
  `${prefix}${domain}\t${domain.startsWith('.') ? 'TRUE' : 'FALSE'}\t/\tTRUE\t${expires}\t${name}\t${value}`;
const ALL = [row('sid', 'old', { prefix: '#HttpOnly_' }), row('other', 'old', { domain: '.other.example' })];
const SITE = ['# kept', row('theme', 'dark'), row('sid', 'old', { prefix: '#HttpOnly_' })];
const report = (more: object = {}) => ({
  domain: '.site.example',
  path: '/',
  name: 'sid',
  before: 'old',
  value: 'new',
  expires: 2_000_000_000,
  ...more,
});

async function openFiles() {
  const dir = await temporaryFolder();
  const write = async (name: string, rows: readonly string[]) => {
    const file = join(dir, name);
    await writeFile(file, ['# Netscape HTTP Cookie File', ...rows, ''].join('\n'), { mode: 0o600 });
    return file;
  };
  const [all, site] = [await write('all.txt', ALL), await write('site.example.txt', SITE)];
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (...warning: unknown[]) => void warnings.push(warning) };
  const cookies = createOperatorCookies({ cookiesFile: all, cookiesDir: [site] }, log);
  const rowsOf = async (file: string) => (await readFile(file, 'utf8')).split('\n').slice(1, -1);
  return { dir, all, site, cookies, warnings, write, rowsOf };
}

it.each([
  ['a replaced one', LINK, report(), row('sid', 'new', { prefix: '#HttpOnly_' })],
  [
    'a later expiry',
    LINK,
    report({ value: 'old', expires: 2_000_086_400 }),
    row('sid', 'old', { expires: 2_000_086_400, prefix: '#HttpOnly_' }),
  ],
  ['one that another site reports', 'https://other.example/', report(), undefined],
  ['one of another site', LINK, report({ domain: '.other.example', name: 'other' }), undefined],
  ['an expiry that is later by minutes', LINK, report({ value: 'old', expires: 2_000_000_300 }), undefined],
  ['one that the operator has changed meanwhile', LINK, report({ before: 'older' }), undefined],
  ['one that no file has', LINK, report({ name: 'visitor' }), undefined],
  ['an empty one', LINK, report({ value: '' }), undefined],
  ['a value that begins a row', LINK, report({ value: `new\n${row('theme', 'light')}` }), undefined],
  ['a value that is too long', LINK, report({ value: 'x'.repeat(4_096) }), undefined],
  ['what is no cookie', LINK, { domain: 1 }, undefined],
])('writes %s as it should', async (_, link, reported, written) => {
  const { all, site, cookies, rowsOf, dir, warnings } = await openFiles();
  await cookies.write(link, [reported]);
  expect(await rowsOf(site)).toEqual(written ? [...SITE.slice(0, 2), written] : SITE);
  expect(await rowsOf(all)).toEqual(ALL);
  expect((await stat(site)).mode & 0o777).toBe(0o600);
  expect(await readdir(dir)).toHaveLength(2);
  expect(warnings).toEqual([]);
});

it('knows the site that a short link leads to', async () => {
  const { site, cookies, write, rowsOf } = await openFiles();
  await write('site.example.txt', [row('sid', 'old', { domain: '.youtube.com' })]);
  await cookies.write('https://youtu.be/plainplain1', [report({ domain: '.youtube.com' })]);
  expect(await rowsOf(site)).toEqual([row('sid', 'new', { domain: '.youtube.com' })]);
});

it('keeps the one that is valid longer when links replace a cookie at once', async () => {
  const { site, cookies, rowsOf } = await openFiles();
  const at = (value: string, expires: number) => cookies.write(LINK, [report({ value, expires })]);
  await Promise.all([at('first', 2_100_000_000), at('second', 2_200_000_000), at('third', 2_150_000_000)]);
  expect((await rowsOf(site)).at(-1)).toContain('2200000000\tsid\tsecond');
});

it('names what it has replaced, as the operator has changed it since', async () => {
  const { cookies, write } = await openFiles();
  expect(await cookies.replaced()).toEqual([]);
  await cookies.write(LINK, [report()]);
  const { before, ...cookie } = report();
  expect(await cookies.replaced()).toEqual([cookie]);
  await write('site.example.txt', [row('sid', 'exported')]);
  expect(await cookies.replaced()).toEqual([{ ...cookie, value: 'exported' }]);
});

it('logs a file that is read-only once, without a value, and leaves it', async () => {
  const { site, cookies, rowsOf, warnings } = await openFiles();
  await chmod(site, 0o400);
  await cookies.write(LINK, [report()]);
  await cookies.write(LINK, [report()]);
  expect(await rowsOf(site)).toEqual(SITE);
  expect(warnings).toHaveLength(1);
  expect(JSON.stringify(warnings)).toContain('read-only');
  expect(JSON.stringify(warnings)).not.toContain('new');
});
